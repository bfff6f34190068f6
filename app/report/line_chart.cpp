#include "app/report/line_chart.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "app/report/axes.h"

namespace slipstream {
namespace {

constexpr int kYTicks = 5;
constexpr double kRightMargin = 10;

/// The parts of a line between its breaks, as pixels.
std::vector<std::vector<Point>> pieces(const std::vector<Point>& points, const Scale& x, const Scale& y) {
  std::vector<std::vector<Point>> all(1);
  for (const Point& point : points) {
    if (std::isfinite(point.y)) {
      all.back().push_back({x(point.x), y(point.y)});
    } else if (!all.back().empty()) {
      all.emplace_back();
    }
  }
  return all;
}

void draw_band(Drawing& drawing, const Series& line, const Scale& x, const Scale& y) {
  std::vector<Point> upper, lower;
  for (size_t at = 0; at < line.highs.size(); ++at) {
    upper.push_back({x(line.points[at].x), y(line.highs[at])});
    lower.push_back({x(line.points[at].x), y(line.lows[at])});
  }
  drawing.band(upper, lower, "band " + line.style);
}

void draw_series(Drawing& drawing, const Series& line, const Scale& x, const Scale& y) {
  draw_band(drawing, line, x, y);
  for (const std::vector<Point>& piece : pieces(line.points, x, y)) {
    if (piece.size() > 1) drawing.path(piece, "line " + line.style);
    if (line.dots || piece.size() == 1) {
      for (const Point& point : piece) drawing.dot(point, 3, "mark " + line.style);
    }
  }
}

Axis finite_or_unit(Axis axis) {
  if (axis.low > axis.high) axis.low = 0, axis.high = 1;
  return axis;
}

void include(Axis& axis, double value) {
  if (!std::isfinite(value)) return;
  axis.low = std::min(axis.low, value);
  axis.high = std::max(axis.high, value);
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

Axis spanning_x(Axis axis, const std::vector<Series>& series) {
  axis.low = kInfinity, axis.high = -kInfinity;
  for (const Series& line : series) {
    for (const Point& point : line.points) include(axis, point.x);
  }
  return finite_or_unit(axis);
}

Axis spanning_y(Axis axis, const std::vector<Series>& series) {
  axis.low = kInfinity, axis.high = -kInfinity;
  for (const Series& line : series) {
    for (const Point& point : line.points) include(axis, point.y);
    for (const double high : line.highs) include(axis, high);
    for (const double low : line.lows) include(axis, low);
  }
  return finite_or_unit(axis);
}

Drawing line_chart(const LineChart& chart, double width) {
  const Plot plot{.left = y_axis_width(chart.y, kYTicks),
                  .top = 26,
                  .right = width - kRightMargin,
                  .bottom = chart.height - kXAxisHeight};
  Drawing drawing(width, chart.height);
  draw_y_axis(drawing, plot, chart.y, kYTicks);
  draw_y_title(drawing, plot, chart.y);
  draw_x_axis(drawing, plot, chart.x);
  for (const Series& line : chart.series) draw_series(drawing, line, plot.x(chart.x), plot.y(chart.y));
  return drawing;
}

Drawing panel_chart(const LineChart& chart, double width) {
  constexpr double kNameHeight = 24, kGap = 8, kTitleHeight = 16;
  constexpr int kTicks = 2;
  const double step = kNameHeight + chart.height + kGap;
  const double bottom = kTitleHeight + step * static_cast<double>(chart.series.size()) - kGap;
  Drawing drawing(width, bottom + kXAxisHeight);
  Plot plot{.left = y_axis_width(chart.y, kTicks),
            .top = kTitleHeight,
            .right = width - kRightMargin,
            .bottom = bottom};
  drawing.text({0, 11}, chart.y.title, Anchor::kStart, "title");
  draw_x_axis(drawing, plot, chart.x);
  double top = kTitleHeight;
  for (const Series& line : chart.series) {
    plot.top = top + kNameHeight;
    plot.bottom = plot.top + chart.height;
    drawing.text({plot.left, plot.top - 7}, shortened(line.name, plot.right - plot.left), Anchor::kStart,
                 "name");
    draw_y_axis(drawing, plot, chart.y, kTicks);
    draw_series(drawing, line, plot.x(chart.x), plot.y(chart.y));
    top += step;
  }
  return drawing;
}

}  // namespace slipstream
