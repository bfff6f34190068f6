#pragma once

#include <string>
#include <vector>

#include "pipeline/run_observer.h"

namespace slipstream {

/// The steps in a run's steps.jsonl; none if there is no such file. A last line that a crash cut off doesn't
/// count. Throws UsageError naming the line that is no step. A loss that isn't finite is NaN.
std::vector<StepRecord> read_steps(const std::string& file);

/// A step's wait for its batch and its compute.
double step_seconds(const StepRecord& step);

}  // namespace slipstream
