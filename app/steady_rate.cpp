#include "app/steady_rate.h"

#include <algorithm>
#include <cmath>

#include "app/report/steps_file.h"

namespace slipstream {
namespace {

double end_s(const StepRecord& step) { return step.begin_s + step.times.compute_s; }

/// From the end of the step before it; of an epoch's first, what it waited and took.
double seconds(const StepRecord& step, const StepRecord& before) {
  if (step.epoch == before.epoch) return end_s(step) - end_s(before);
  return step_seconds(step);
}

}  // namespace

SteadyRate steady_rate(const std::vector<StepRecord>& steps, size_t warm_up) {
  const auto count = static_cast<double>(steps.size() - warm_up);
  double images = 0, wait_s = 0, sum_s = 0, squares = 0;
  for (size_t i = warm_up; i < steps.size(); ++i) {
    const double step_s = seconds(steps[i], steps[i > 0 ? i - 1 : i]);
    images += static_cast<double>(steps[i].images);
    wait_s += steps[i].times.data_wait_s;
    sum_s += step_s;
    squares += step_s * step_s;
  }
  const double mean = sum_s / count;
  const double variance = std::max(0.0, squares / count - mean * mean) * count / (count - 1);
  return {.images_per_s = images / sum_s,
          .plus_minus = 2 * std::sqrt(variance / count) / mean,
          .data_wait_share = wait_s / sum_s,
          .seconds = sum_s};
}

}  // namespace slipstream
