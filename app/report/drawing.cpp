#include "app/report/drawing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "app/report/escape.h"

namespace slipstream {
namespace {

/// A tenth of a pixel is finer than screens show, and short.
std::string coordinate(double value) {
  const double tenths = std::round(value * 10);
  return fmt::format("{}", tenths == 0 ? 0.0 : tenths / 10);
}

void append_points(std::string& to, const std::vector<Point>& points) {
  for (const Point& point : points) {
    if (!to.empty() && to.back() != '"') to += ' ';
    to += coordinate(point.x) + "," + coordinate(point.y);
  }
}

const char* anchor_attribute(Anchor anchor) {
  if (anchor == Anchor::kMiddle) return " text-anchor=\"middle\"";
  return anchor == Anchor::kEnd ? " text-anchor=\"end\"" : "";
}

/// In pixels of page.css's 13 px text, of the widest of the usual fonts, DejaVu Sans: labels that fit in it
/// fit in the others.
double letter_width(char letter) {
  constexpr std::string_view kNarrow = " .,:;'|!()[]/-fijlrtI", kWide = "%mwMW@";
  if (kNarrow.find(letter) != std::string_view::npos) return 5.1;
  return kWide.find(letter) != std::string_view::npos ? 12.7 : 8.4;
}

bool continues_letter(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

}  // namespace

void Drawing::close(std::string_view element, std::string_view tip) {
  if (tip.empty()) {
    body_ += "/>\n";
  } else {
    body_ += fmt::format("><title>{}</title></{}>\n", html_text(tip), element);
  }
}

void Drawing::line(Point from, Point to, std::string_view style) {
  body_ += fmt::format(R"(<line class="{}" x1="{}" y1="{}" x2="{}" y2="{}"/>)"
                       "\n",
                       style, coordinate(from.x), coordinate(from.y), coordinate(to.x), coordinate(to.y));
}

void Drawing::rect(Point corner, double width, double height, std::string_view style, std::string_view tip) {
  body_ +=
      fmt::format(R"(<rect class="{}" x="{}" y="{}" width="{}" height="{}")", style, coordinate(corner.x),
                  coordinate(corner.y), coordinate(std::max(width, 0.0)), coordinate(std::max(height, 0.0)));
  close("rect", tip);
}

void Drawing::path(const std::vector<Point>& points, std::string_view style) {
  if (points.empty()) return;
  body_ += fmt::format(R"(<polyline class="{}" points=")", style);
  append_points(body_, points);
  body_ += "\"/>\n";
}

void Drawing::band(const std::vector<Point>& upper, const std::vector<Point>& lower, std::string_view style) {
  if (upper.empty()) return;
  std::vector<Point> outline = upper;
  outline.insert(outline.end(), lower.rbegin(), lower.rend());
  body_ += fmt::format(R"(<polygon class="{}" points=")", style);
  append_points(body_, outline);
  body_ += "\"/>\n";
}

void Drawing::dot(Point centre, double radius, std::string_view style, std::string_view tip) {
  body_ += fmt::format(R"(<circle class="{}" cx="{}" cy="{}" r="{}")", style, coordinate(centre.x),
                       coordinate(centre.y), coordinate(radius));
  close("circle", tip);
}

void Drawing::text(Point at, std::string_view text, Anchor anchor, std::string_view style) {
  const std::string named = style.empty() ? std::string() : fmt::format(" class=\"{}\"", style);
  body_ += fmt::format(R"(<text{} x="{}" y="{}"{}>{}</text>)"
                       "\n",
                       named, coordinate(at.x), coordinate(at.y), anchor_attribute(anchor), html_text(text));
}

std::string series_style(size_t index) {
  constexpr size_t kColours = 8;
  return fmt::format("s{}{}", index % kColours + 1, index / kColours % 2 == 1 ? " dashed" : "");
}

double text_width(std::string_view text) {
  double width = 0;
  for (const char letter : text) {
    if (!continues_letter(letter)) width += letter_width(letter);
  }
  return width;
}

std::string shortened(const std::string& text, double width) {
  if (text_width(text) <= width) return text;
  std::string kept = text;
  while (!kept.empty() && text_width(kept + "…") > width) {
    while (kept.size() > 1 && continues_letter(kept.back())) kept.pop_back();
    kept.pop_back();
  }
  return kept + "…";
}

}  // namespace slipstream
