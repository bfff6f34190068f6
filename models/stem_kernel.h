#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "models/kernel_type.h"

namespace slipstream {

// What the host gives the first convolution's kernels. All pointers are to device memory; images are dense,
// channels last, of 16-bit values, on 16-byte boundaries. A launch queues its kernels on `stream` and returns
// the launch's status.

/// Gives each pixel of 3 values a fourth, 0. `pairs`: of pixels beside each other.
struct PadJob {
  const void* images;  ///< [.., 3]
  void* padded;        ///< [.., 4]
  int64_t pairs;
};
cudaError_t launch_pad(const PadJob& job, cudaStream_t stream);

/// 7x7 in steps of 2, padded by 3, from 3 channels to 64; sides are even.
struct StemProblem {
  KernelType type;  ///< float16 or bfloat16
  int images, height, width;
  int multiprocessors;  ///< of the device: grids fill it once

  int out_height() const { return height / 2; }
  int out_width() const { return width / 2; }
};
inline constexpr int kStemChannels = 64;
inline constexpr int kStemKernel = 7;
inline constexpr int kStemImageChannels = 3;

/// y, and its sums: each of `parts` blocks writes those of its part of y, and of its squares, by channel.
struct StemForwardJob {
  StemProblem problem;
  const void* x;       ///< [N, H, W, 4]
  const void* weight;  ///< [64, 7, 7, 3]
  void* y;             ///< [N, H / 2, W / 2, 64]
  float* sums;         ///< [parts, 2, 64]
};
int stem_sum_parts(const StemProblem& problem);
cudaError_t launch_stem_forward(const StemForwardJob& job, cudaStream_t stream);

/// The weight's gradient: each block makes a part of the sum, a second kernel adds them in a fixed order.
struct StemGradientJob {
  StemProblem problem;
  const void* x;    ///< [N, H, W, 4]
  const void* dy;   ///< [N, H / 2, W / 2, 64]
  void* dweight;    ///< [64, 7, 7, 3]
  float* partials;  ///< stem_gradient_floats()
};
int64_t stem_gradient_floats(const StemProblem& problem);
cudaError_t launch_stem_gradient(const StemGradientJob& job, cudaStream_t stream);

}  // namespace slipstream
