#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

#include "models/kernel_type.h"

namespace slipstream {

/// float32, float16 or bfloat16 as kernels know it; others are refused.
inline KernelType kernel_type(at::ScalarType type) {
  TORCH_CHECK(type == at::kFloat || type == at::kHalf || type == at::kBFloat16, "no kernels for ", type);
  if (type == at::kHalf) return KernelType::kFloat16;
  return type == at::kBFloat16 ? KernelType::kBfloat16 : KernelType::kFloat32;
}

/// Uninitialised, on x's device.
inline at::Tensor floats(const at::Tensor& x, at::IntArrayRef sizes) {
  return at::empty(sizes, x.options().dtype(at::kFloat));
}

}  // namespace slipstream
