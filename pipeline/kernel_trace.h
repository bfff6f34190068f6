#pragma once

#include <c10/core/Device.h>

#include <memory>
#include <vector>

#include "pipeline/kernel_summary.h"

namespace slipstream {

/// Writes down what the process has its GPUs do, with the times. The device is slower for it: don't time what
/// is traced. One trace at a time.
class KernelTrace {
 public:
  virtual ~KernelTrace() = default;

  /// Throws Error where the driver or another profiler doesn't let it.
  virtual void start() = 0;

  /// What was done since; the caller has waited for all of it. Throws Error where some of it was lost.
  virtual std::vector<DeviceActivity> stop() = 0;
};

/// Null where there are no kernels to trace: the CPU, a build without CUDA.
std::unique_ptr<KernelTrace> make_kernel_trace(c10::Device device);

}  // namespace slipstream
