#include "app/report/axes.h"

#include <algorithm>
#include <string>

namespace slipstream {
namespace {

constexpr double kTickLength = 4, kLabelGap = 7;
constexpr double kTextDrop = 4.5;  // from a text's middle to its base line

int most_x_ticks(const Plot& plot, const Axis& axis) {
  const Ticks fine = axis_ticks(axis, 10);
  double widest = 0;
  for (const double value : fine.values) widest = std::max(widest, text_width(tick_text(axis, fine, value)));
  return std::clamp(static_cast<int>((plot.right - plot.left) / (widest + 16)), 1, 10);
}

}  // namespace

void draw_x_axis(Drawing& drawing, const Plot& plot, const Axis& axis) {
  const Scale x = plot.x(axis);
  const Ticks ticks = axis_ticks(axis, most_x_ticks(plot, axis));
  for (const double value : ticks.values) {
    const double at = x(value);
    drawing.line({at, plot.top}, {at, plot.bottom + kTickLength}, "grid");
    const std::string label = tick_text(axis, ticks, value);
    // The last label may not reach out of the picture.
    const double half = text_width(label) / 2;
    const double centre = std::clamp(at, half, std::max(half, drawing.width() - half));
    drawing.text({centre, plot.bottom + 17}, label, Anchor::kMiddle);
  }
  drawing.line({plot.left, plot.bottom}, {plot.right, plot.bottom}, "axis");
  drawing.text({(plot.left + plot.right) / 2, plot.bottom + 36}, axis.title, Anchor::kMiddle, "title");
}

void draw_y_axis(Drawing& drawing, const Plot& plot, const Axis& axis, int most_ticks) {
  const Scale y = plot.y(axis);
  const Ticks ticks = axis_ticks(axis, most_ticks);
  for (const double value : ticks.values) {
    const double at = y(value);
    drawing.line({plot.left - kTickLength, at}, {plot.right, at}, "grid");
    drawing.text({plot.left - kLabelGap, at + kTextDrop}, tick_text(axis, ticks, value), Anchor::kEnd);
  }
  drawing.line({plot.left, plot.top}, {plot.left, plot.bottom}, "axis");
}

void draw_y_title(Drawing& drawing, const Plot& plot, const Axis& axis) {
  drawing.text({0, plot.top - 12}, axis.title, Anchor::kStart, "title");
}

double y_axis_width(const Axis& axis, int most_ticks) {
  const Ticks ticks = axis_ticks(axis, most_ticks);
  double widest = 0;
  for (const double value : ticks.values)
    widest = std::max(widest, text_width(tick_text(axis, ticks, value)));
  return widest + kLabelGap + 2;
}

}  // namespace slipstream
