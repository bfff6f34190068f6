#pragma once

#include <ATen/core/Tensor.h>

#include "data/normalise_kernel.h"

namespace slipstream {

/// The kernels' name of an image tensor's type.
inline PixelType pixel_type(at::ScalarType type) {
  switch (type) {
    case at::kFloat:
      return PixelType::kFloat32;
    case at::kHalf:
      return PixelType::kFloat16;
    case at::kBFloat16:
      return PixelType::kBfloat16;
    default:
      TORCH_CHECK(false, "images can't be of type ", type);
  }
}

}  // namespace slipstream
