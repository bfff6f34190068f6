#pragma once

#include <string>
#include <vector>

#include "app/report/drawing.h"
#include "app/report/scale.h"

namespace slipstream {

/// A line; where y isn't finite it is broken.
struct Series {
  std::string name;
  std::string style;
  std::vector<Point> points;
  std::vector<double> lows, highs;  ///< for each point the range around it; may be empty
  bool dots = false;
};

struct LineChart {
  Axis x, y;
  std::vector<Series> series;
  double height = 260;
};

/// All lines in one plot.
Drawing line_chart(const LineChart& chart, double width);

/// A plot for each line, below its name, all with the same axes; `chart.height` is that of one.
Drawing panel_chart(const LineChart& chart, double width);

/// The least and the greatest of what is finite, as an axis from and to; 0 to 1 if there is nothing.
Axis spanning_x(Axis axis, const std::vector<Series>& series);
Axis spanning_y(Axis axis, const std::vector<Series>& series);

}  // namespace slipstream
