#pragma once

#include <c10/core/Device.h>

#include <memory>
#include <optional>

namespace slipstream {

/// What of a GPU is watched.
enum class GpuMeter {
  kKernels,      ///< the share of time in which a kernel ran
  kJpegEngines,  ///< mean use of the engines that decode JPEG
};

/// Samples a GPU's utilisation in a thread of its own, through the driver's management library (NVML).
class GpuMonitor {
 public:
  virtual ~GpuMonitor() = default;

  /// Forgets what was sampled.
  virtual void restart() = 0;

  /// Mean over the samples since, 0 to 1. Empty if there is none.
  virtual std::optional<double> mean_utilisation() const = 0;
};

/// Null where there is nothing to sample: the CPU, a build without CUDA, a machine without NVML, a driver
/// without the meter.
std::unique_ptr<GpuMonitor> make_gpu_monitor(c10::Device device, GpuMeter meter);

}  // namespace slipstream
