#include "app/report/parallel_chart.h"

#include <algorithm>
#include <cmath>

#include "app/report/scale.h"

namespace slipstream {
namespace {

constexpr double kTop = 24, kStep = 84, kBelow = 26, kMargin = 24;

double axis_y(size_t axis) { return kTop + kStep * static_cast<double>(axis); }

/// On paper of its own, so that no line goes through it.
void draw_label(Drawing& drawing, Point at, const std::string& text, Anchor anchor, std::string_view style) {
  const double width = text_width(text) + 6;
  const double left = anchor == Anchor::kMiddle ? at.x - width / 2 : at.x;
  drawing.rect({left, at.y - 13}, width, 17, "paper");
  drawing.text(at, text, anchor, style);
}

void draw_axis(Drawing& drawing, const ParallelAxis& axis, const Scale& x, double y) {
  drawing.line({x.from(), y}, {x.to(), y}, "axis");
  double free_from = 0;  // marks whose texts would overlap the one before have none
  for (const ParallelAxis::Mark& mark : axis.marks) {
    const double at = x(mark.place), half = text_width(mark.text) / 2;
    drawing.line({at, y - 4}, {at, y + 4}, "axis");
    const double middle = std::clamp(at, half, std::max(half, drawing.width() - half));
    if (middle - half < free_from) continue;
    draw_label(drawing, {middle, y + 20}, mark.text, Anchor::kMiddle, "");
    free_from = middle + half + 8;
  }
  draw_label(drawing, {0, y - 9}, axis.title, Anchor::kStart, "name");
}

}  // namespace

Drawing parallel_chart(const ParallelChart& chart, double width) {
  const Scale x(0, 1, kMargin, width - kMargin);
  Drawing drawing(width, axis_y(std::max<size_t>(chart.axes.size(), 1) - 1) + kBelow);
  for (const ParallelLine& line : chart.lines) {
    std::vector<Point> points;
    for (size_t axis = 0; axis < line.places.size(); ++axis) {
      if (std::isfinite(line.places[axis])) points.push_back({x(line.places[axis]), axis_y(axis)});
    }
    drawing.path(points, "line " + line.style);
  }
  for (size_t axis = 0; axis < chart.axes.size(); ++axis) {
    draw_axis(drawing, chart.axes[axis], x, axis_y(axis));
  }
  return drawing;
}

}  // namespace slipstream
