#include "app/report/row_chart.h"

namespace slipstream {

Drawing row_chart(const Axis& axis, const Rows& rows, double width,
                  const std::function<void(Drawing&, const Scale&, size_t row, double top)>& draw_row,
                  const std::function<void(Drawing&, const Scale&)>& draw_over) {
  const double bottom = rows.top + rows.height * static_cast<double>(rows.count);
  const Plot plot{.left = 1, .top = rows.top, .right = width - 8, .bottom = bottom};
  Drawing drawing(width, bottom + kXAxisHeight);
  draw_x_axis(drawing, plot, axis);
  for (size_t row = 0; row < rows.count; ++row) {
    draw_row(drawing, plot.x(axis), row, rows.top + rows.height * static_cast<double>(row));
  }
  if (draw_over) draw_over(drawing, plot.x(axis));
  drawing.line({plot.left, plot.top}, {plot.left, plot.bottom}, "axis");
  return drawing;
}

}  // namespace slipstream
