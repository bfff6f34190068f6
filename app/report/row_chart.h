#pragma once

#include <cstddef>
#include <functional>

#include "app/report/axes.h"

namespace slipstream {

/// Where the rows of a chart lie, in its own pixels.
struct Rows {
  size_t count = 0;
  double top = 0, height = 0;
};

/// A chart of rows below one another over one axis, which stands at their foot. `draw_row` gets the axis'
/// scale, the row's number and its upper edge; `draw_over`, where it is given, what crosses rows.
Drawing row_chart(const Axis& axis, const Rows& rows, double width,
                  const std::function<void(Drawing&, const Scale&, size_t row, double top)>& draw_row,
                  const std::function<void(Drawing&, const Scale&)>& draw_over = {});

}  // namespace slipstream
