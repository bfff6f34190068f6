#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

namespace slipstream {

// As data/normalise.h; device code can't take the address of a host constexpr array.
__constant__ const float kDeviceMean[3] = {0.485F, 0.456F, 0.406F};
__constant__ const float kDeviceDeviation[3] = {0.229F, 0.224F, 0.225F};

template <typename Value>
__device__ Value convert(float value);
template <>
__device__ inline float convert<float>(float value) {
  return value;
}
template <>
__device__ inline __half convert<__half>(float value) {
  return __float2half_rn(value);
}
template <>
__device__ inline __nv_bfloat16 convert<__nv_bfloat16>(float value) {
  return __float2bfloat16_rn(value);
}

/// A pixel's channel, normalised. The divisions are IEEE's, so that every value equals the CPU's bit for bit.
template <typename Value>
__device__ Value normalised(uint8_t pixel, int channel) {
  const float scaled = __fdiv_rn(pixel, 255.0F);
  return convert<Value>(__fdiv_rn(__fsub_rn(scaled, kDeviceMean[channel]), kDeviceDeviation[channel]));
}

}  // namespace slipstream
