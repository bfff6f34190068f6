#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime_api.h>

#include "models/kernel_type.h"

namespace slipstream {

/// Calls launch.operator()<Value>() for the type of 16 bits, and returns the launch's status; another type is
/// an invalid value.
template <typename Launch>
cudaError_t for_half(KernelType type, Launch launch) {
  if (type == KernelType::kFloat32) return cudaErrorInvalidValue;
  type == KernelType::kFloat16 ? launch.template operator()<__half>()
                               : launch.template operator()<__nv_bfloat16>();
  return cudaGetLastError();
}

/// The same for any type.
template <typename Launch>
cudaError_t for_value(KernelType type, Launch launch) {
  if (type != KernelType::kFloat32) return for_half(type, launch);
  launch.template operator()<float>();
  return cudaGetLastError();
}

}  // namespace slipstream
