#pragma once

#include <cstddef>
#include <vector>

#include "app/report/line_chart.h"
#include "app/report/utilisation_file.h"
#include "pipeline/run_observer.h"

namespace slipstream {

/// A time in which something happened evenly, `amount` of it.
struct Interval {
  double begin_s = 0, end_s = 0;
  double amount = 0;
};

/// A run's steps one behind the other, on the clock of its training alone: what passes between two epochs,
/// validation say, isn't in it. A step's wait and compute, with its images.
std::vector<Interval> image_intervals(const std::vector<StepRecord>& steps);
/// Its compute alone, the amount being its seconds.
std::vector<Interval> busy_intervals(const std::vector<StepRecord>& steps);

/// The amount a second in each of `bins` equal parts of 0 to `end_s`; a point stands in its part's middle.
std::vector<Point> rates(const std::vector<Interval>& intervals, double end_s, size_t bins);

/// At most `most` points, each the mean of as many neighbours, with their least and greatest as its range.
/// Fewer points are left as they are, without ranges.
Series thinned(Series series, size_t most);

/// The rows as a line on the clock of the training alone: each follows the one before, whatever passed
/// between two epochs; a point stands in its row's middle.
std::vector<Point> points_of(const std::vector<BusyBin>& bins);

}  // namespace slipstream
