#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/gpu_monitor.h"
#include "pipeline/kernel_summary.h"
#include "pipeline/train_setup.h"

namespace slipstream {

/// How long the training step takes by itself, on a batch that stays on the device.
struct ComputeRate {
  struct Parts {
    double forward_s = 0, backward_s = 0, optimizer_s = 0;
  };
  /// A few steps of their own, slower for being traced.
  struct Traced {
    double step_s = 0;  ///< by events around them
    KernelSummary kernels;
  };

  int64_t batch_size = 0;
  int64_t steps = 0;                       ///< of each window
  std::vector<double> step_s;              ///< of each window, the mean
  std::optional<Parts> parts;              ///< of a step, the median of each; not of a graph
  std::optional<Traced> traced;            ///< on a GPU
  std::string why_not_traced;              ///< a sentence, where there is no trace
  bool cuda_graph = false;                 ///< the step was replayed as a graph
  std::string why_no_graph;                ///< a sentence, where one was asked for in vain
  std::optional<double> copy_bytes_per_s;  ///< of the device's memory, read and written; on a GPU
  std::optional<int64_t> peak_bytes;       ///< that tensors occupied at most; on a GPU
  std::optional<int64_t> reserved_bytes;   ///< that the allocator held for them; on a GPU
  GpuUse gpu;                              ///< during the windows

  double median_step_s() const;
  double images_per_s() const { return static_cast<double>(batch_size) / median_step_s(); }
};

/// How much to measure.
struct ComputeMeasurement {
  int64_t steps = 0;  ///< of a window; 0: as many as take a second
  int64_t windows = 5;
};

/// Trains on one random batch, again and again: until it is warm, then in timed windows that follow one
/// another without a gap, then for the parts, then traced, so that nothing slows what is timed. With
/// `profile`, a profiler may record instead of the trace. The setup's data and input aren't looked at.
ComputeRate measure_compute(const TrainSetup& setup, const ComputeMeasurement& measurement);

}  // namespace slipstream
