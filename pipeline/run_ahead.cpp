#include "pipeline/run_ahead.h"

namespace slipstream {

void RunAhead::limit() {
  queued_.emplace_back(compute_.device()).record(compute_);
  constexpr size_t kSteps = 2;  // the one that runs and the one behind it
  if (queued_.size() <= kSteps) return;
  queued_.front().wait_on_host();
  queued_.pop_front();
}

}  // namespace slipstream
