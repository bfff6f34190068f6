#pragma once

#include <cstddef>
#include <vector>

#include "pipeline/run_observer.h"

namespace slipstream {

/// How fast a training is once it is under way.
struct SteadyRate {
  double images_per_s = 0;
  double plus_minus = 0;       ///< share of images_per_s: twice its standard error, by the steps' times
  double data_wait_share = 0;  ///< of the time
  double seconds = 0;          ///< that the steps took
};

/// Of the steps after the first `warm_up`, of which there must be two. What lies between two epochs, where a
/// checkpoint is written, is in no step's time.
SteadyRate steady_rate(const std::vector<StepRecord>& steps, size_t warm_up);

}  // namespace slipstream
