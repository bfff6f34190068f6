#pragma once

#include <deque>

#include "pipeline/device.h"

namespace slipstream {

/// Keeps the host from queuing much more than one step behind the one that runs.
///
/// A step of ResNet-50 is about 940 launches and the driver's launch queue holds 1,024 (four times as many
/// with what configure_gpu_libraries sets). A thread that finds it full waits inside the driver, where it
/// keeps others from launching too: nvJPEG's calls on another thread stall, or don't return at all. Waiting
/// out here costs nothing while a whole step is queued.
class RunAhead {
 public:
  explicit RunAhead(c10::Stream compute) : compute_(compute) {}

  /// Call when a step is queued. Blocks until all steps but this one and the one before are done.
  void limit();

 private:
  c10::Stream compute_;
  std::deque<Event> queued_;
};

}  // namespace slipstream
