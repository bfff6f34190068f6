#pragma once

#include <vector>

#include "app/report/document.h"
#include "app/report/input.h"

namespace slipstream {

/// For a grid of two options a heat map of each figure.
std::vector<Block> heat_pictures(const ReportSweep& sweep);

/// For a larger grid, or runs that form none: each run as a line through its options and figures.
std::vector<Block> parallel_pictures(const ReportSweep& sweep);

/// For one option, bars of the images/s by its values.
std::vector<Block> bar_pictures(const ReportSweep& sweep);

/// The done run with the highest accuracy, or where none has one the lowest loss; -1 if none is done.
int best_result(const ReportSweep& sweep);

}  // namespace slipstream
