#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/report/drawing.h"

namespace slipstream {

struct BarPart {
  std::string name;
  double value = 0;
  std::string style;
};

struct Bar {
  std::string name;
  std::string label;  ///< at its end: the total, in words
  std::vector<BarPart> parts;
  std::optional<std::pair<double, double>> range;  ///< of the total, over repetitions

  double total() const;
};

/// Horizontal bars of stacked parts, each below its name.
struct BarChart {
  std::string axis_title;
  double unit = 1;  ///< values are divided by it for the axis
  std::vector<Bar> bars;
};

Drawing bar_chart(const BarChart& chart, double width);

}  // namespace slipstream
