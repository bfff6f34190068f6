#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

#include <cstdint>

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

/// Whether a tensor begins where kernels can load 16 bytes at once.
inline bool on_boundary(const at::Tensor& tensor) {
  constexpr uintptr_t kBoundary = 16;
  return reinterpret_cast<uintptr_t>(tensor.const_data_ptr()) % kBoundary == 0;
}

/// The tensor as kernels read it: dense, channels last, on a 16-byte boundary. A copy only if it isn't so: a
/// slice of another, or a gradient that autograd expanded.
inline at::Tensor dense(const at::Tensor& tensor) {
  at::Tensor result = tensor.contiguous(at::MemoryFormat::ChannelsLast);
  return on_boundary(result) ? result : result.clone(at::MemoryFormat::ChannelsLast);
}

}  // namespace slipstream
