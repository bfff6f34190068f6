#pragma once

#include <string>
#include <vector>

#include "app/report/drawing.h"

namespace slipstream {

/// One of the parallel axes: places from 0 to 1 with what stands there.
struct ParallelAxis {
  struct Mark {
    double place = 0;
    std::string text;
  };
  std::string title;
  std::vector<Mark> marks;
};

struct ParallelLine {
  std::vector<double> places;  ///< 0 to 1 on each axis; not finite where it has no value
  std::string style;
  std::string name;
};

/// Axes one below the other, and a line down through them for each run: on a phone they need no more width
/// than on a desk. Later lines lie on top.
struct ParallelChart {
  std::vector<ParallelAxis> axes;
  std::vector<ParallelLine> lines;
};

Drawing parallel_chart(const ParallelChart& chart, double width);

}  // namespace slipstream
