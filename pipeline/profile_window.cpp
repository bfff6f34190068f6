#include "pipeline/profile_window.h"

#include <algorithm>

#include "pipeline/profiler.h"

namespace slipstream {

StepSpan profiled_steps(int64_t steps) {
  constexpr StepSpan kWanted{20, 30};
  const int64_t last = std::min(kWanted.last, steps);
  return {std::max<int64_t>(1, last - (kWanted.last - kWanted.first)), last};
}

ProfileWindow::~ProfileWindow() {
  if (recording_) stop_profiler();
}

void ProfileWindow::begin_step() {
  if (++step_ != span_.first) return;
  synchronise(compute_);
  start_profiler();
  recording_ = true;
}

void ProfileWindow::end_step() {
  if (step_ != span_.last) return;
  synchronise(compute_);
  stop_profiler();
  recording_ = false;
}

}  // namespace slipstream
