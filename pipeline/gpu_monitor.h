#pragma once

#include <c10/core/Device.h>

#include <memory>
#include <optional>

namespace slipstream {

/// What a GPU was seen to do: means over samples. Empty is what its driver doesn't tell.
struct GpuUse {
  std::optional<double> kernels;        ///< the share of time in which a kernel ran, 0 to 1
  std::optional<double> jpeg_engines;   ///< use of the engines that decode JPEG, 0 to 1
  std::optional<double> clock_mhz;      ///< of the multiprocessors
  std::optional<double> top_clock_mhz;  ///< what that can be
  std::optional<double> power_w;        ///< of the whole board
  std::optional<double>
      power_limited;  ///< the share of time in which the board's power limit held the clock down
};

/// Samples a GPU in a thread of its own, through the driver's management library (NVML).
class GpuMonitor {
 public:
  virtual ~GpuMonitor() = default;

  /// Forgets what was sampled.
  virtual void restart() = 0;

  /// What was sampled since.
  virtual GpuUse use() const = 0;
};

/// Null where there is nothing to sample: the CPU, a build without CUDA, a machine without NVML.
std::unique_ptr<GpuMonitor> make_gpu_monitor(c10::Device device);

}  // namespace slipstream
