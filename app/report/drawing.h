#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace slipstream {

struct Point {
  double x = 0, y = 0;
};

enum class Anchor { kStart, kMiddle, kEnd };

/// The inside of an SVG of `width` by `height` pixels, y downwards. Styles are classes of page.css, so that
/// colours follow the reader's theme; texts and tips are escaped here.
class Drawing {
 public:
  Drawing(double width, double height) : width_(width), height_(height) {}

  void line(Point from, Point to, std::string_view style);
  /// `tip`, where it isn't empty, is what a pointer over it shows.
  void rect(Point corner, double width, double height, std::string_view style, std::string_view tip = {});
  void path(const std::vector<Point>& points, std::string_view style);
  /// Between the upper and the lower line, which have the same xs.
  void band(const std::vector<Point>& upper, const std::vector<Point>& lower, std::string_view style);
  void dot(Point centre, double radius, std::string_view style, std::string_view tip = {});
  void text(Point at, std::string_view text, Anchor anchor, std::string_view style = {});

  double width() const { return width_; }
  double height() const { return height_; }
  const std::string& body() const { return body_; }

 private:
  void close(std::string_view element, std::string_view tip);

  double width_, height_;
  std::string body_;
};

/// The style of the i-th of several series: eight colours that differ for the colour-blind, too, then the
/// same with dashes.
std::string series_style(size_t index);

/// About as many pixels as the text takes, rather more: fonts differ.
double text_width(std::string_view text);
/// The text, or its begin and "…", so that it takes no more than `width`.
std::string shortened(const std::string& text, double width);

}  // namespace slipstream
