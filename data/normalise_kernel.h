#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace slipstream {

enum class PixelType { kFloat32, kFloat16, kBfloat16 };

/// A batch of square images on the device, to be normalised; strides in elements.
struct NormaliseJob {
  const uint8_t* pixels;  // [n, size, size, 3]
  const uint8_t* flips;   // [n]
  void* images;
  PixelType type;
  int n, size;
  int64_t stride_n, stride_c, stride_y, stride_x;
};

/// Queues the kernel; returns the launch's status.
cudaError_t launch_normalise(const NormaliseJob& job, cudaStream_t stream);

}  // namespace slipstream
