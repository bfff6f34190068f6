#pragma once

#include <string>
#include <vector>

#include "app/report/drawing.h"

namespace slipstream {

struct PercentileRow {
  std::string name;
  std::string label;  ///< at its end, in words
  double p50 = 0, p95 = 0, p99 = 0, longest = 0;
};

/// For each row a line from its median to its longest: a dot at p50, a bar up to p95, a tick at p99, an open
/// dot at the longest.
struct PercentileChart {
  std::string axis_title;
  double unit = 1;  ///< values are divided by it for the axis
  std::vector<PercentileRow> rows;
};

Drawing percentile_chart(const PercentileChart& chart, double width);

}  // namespace slipstream
