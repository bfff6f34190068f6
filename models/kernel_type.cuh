#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime_api.h>

#include "models/kernel_type.h"

namespace slipstream {

/// Calls launch.operator()<Value>() for the type, and returns the launch's status.
template <typename Launch>
cudaError_t for_value(KernelType type, Launch launch) {
  switch (type) {
    case KernelType::kFloat32:
      launch.template operator()<float>();
      break;
    case KernelType::kFloat16:
      launch.template operator()<__half>();
      break;
    case KernelType::kBfloat16:
      launch.template operator()<__nv_bfloat16>();
      break;
  }
  return cudaGetLastError();
}

/// The same for the types of 16 bits alone; others are an invalid value.
template <typename Launch>
cudaError_t for_half(KernelType type, Launch launch) {
  if (type == KernelType::kFloat32) return cudaErrorInvalidValue;
  type == KernelType::kFloat16 ? launch.template operator()<__half>()
                               : launch.template operator()<__nv_bfloat16>();
  return cudaGetLastError();
}

}  // namespace slipstream
