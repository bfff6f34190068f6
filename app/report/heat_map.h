#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "app/report/drawing.h"

namespace slipstream {

struct HeatCell {
  std::optional<double> value;  ///< none: nothing was measured there
  std::string text;
};

/// A grid of values, the lowest pale and the highest strong, each with its number.
struct HeatMap {
  std::string x_title, y_title;
  std::vector<std::string> xs, ys;
  std::vector<std::vector<HeatCell>> rows;  ///< a row a y, a cell an x
  bool is_log = false;                      ///< shades go by the values' logarithms
};

/// Of all finite values; low above high if there is none.
struct ValueRange {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
};
ValueRange range_of(const HeatMap& map);

Drawing heat_map(const HeatMap& map, double width);

/// Which of the five shades ("h0" to "h4") a value within low..high has.
std::string heat_style(double value, double low, double high);

}  // namespace slipstream
