#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "data/fused_resize.h"
#include "data/normalise_kernel.h"

namespace slipstream {

/// What one launch does. It travels as the kernel's parameter, of which CUDA takes 32,764 bytes.
inline constexpr int kMostFusedImages = 512;
struct FusedJob {
  FusedImage images[kMostFusedImages];
  int count;
  void* out;  ///< of images[0]; strides in elements
  PixelType type;
  int size;
  int64_t stride_n, stride_c, stride_y, stride_x;
};

/// Crops, resizes as Pillow does, flips and normalises `count` images in one launch. Returns its status;
/// cudaErrorInvalidValue if an image is so much larger than the output that its filter doesn't fit the
/// device's shared memory.
cudaError_t launch_fused_resize(const FusedJob& job, cudaStream_t stream);

}  // namespace slipstream
