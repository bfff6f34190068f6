#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "models/kernel_type.h"

namespace slipstream {

// Dense memory on the device. A launch queues its kernels on `stream` and returns the launch's status.

struct CrossEntropyInput {
  KernelType type;     ///< of logits
  const void* logits;  ///< [count, classes]
  const int64_t* labels;
  int count, classes;
  float smoothing;
};

/// One number a row of each; then `totals`: the mean loss, how many were right, how many were labelled.
struct CrossEntropyOutput {
  float* row_losses;
  float* row_right;  ///< 0 or 1; below 0: not labelled
  float* row_logs;   ///< the logarithm of the sum of exponentials, which the backward pass takes again
  float* totals;
};
cudaError_t launch_cross_entropy(const CrossEntropyInput& input, const CrossEntropyOutput& output,
                                 cudaStream_t stream);

/// dlogits, of the logits' type: `dloss[0]` times the mean's gradient.
struct CrossEntropyGradient {
  const float* row_logs;
  const float* totals;
  const float* dloss;
  void* dlogits;
};
cudaError_t launch_cross_entropy_backward(const CrossEntropyInput& input,
                                          const CrossEntropyGradient& gradient, cudaStream_t stream);

}  // namespace slipstream
