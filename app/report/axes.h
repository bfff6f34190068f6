#pragma once

#include "app/report/drawing.h"
#include "app/report/scale.h"

namespace slipstream {

/// The rectangle that data are drawn in.
struct Plot {
  double left = 0, top = 0, right = 0, bottom = 0;

  Scale x(const Axis& axis) const { return {axis.low, axis.high, left, right}; }
  Scale y(const Axis& axis) const { return {axis.low, axis.high, bottom, top, axis.is_log}; }
};

/// Height that an axis below a plot takes, with its ticks and its title.
inline constexpr double kXAxisHeight = 42;

/// Ticks, their labels and lines up through the plot; the axis' title below.
void draw_x_axis(Drawing& drawing, const Plot& plot, const Axis& axis);

/// Ticks, their labels left of the plot and lines through it; the axis' title above, from `title_left`.
void draw_y_axis(Drawing& drawing, const Plot& plot, const Axis& axis, int most_ticks);
void draw_y_title(Drawing& drawing, const Plot& plot, const Axis& axis);

/// Room that the labels of an axis need left of its plot.
double y_axis_width(const Axis& axis, int most_ticks);

}  // namespace slipstream
