#pragma once

#include <cstdint>

#include "data/float_conversion.cuh"

namespace slipstream {

// As data/normalise.h; device code can't take the address of a host constexpr array.
__constant__ const float kDeviceMean[3] = {0.485F, 0.456F, 0.406F};
__constant__ const float kDeviceDeviation[3] = {0.229F, 0.224F, 0.225F};

/// A pixel's channel, normalised. The divisions are IEEE's, so that every value equals the CPU's bit for bit.
template <typename Value>
__device__ Value normalised(uint8_t pixel, int channel) {
  const float scaled = __fdiv_rn(pixel, 255.0F);
  return from_float<Value>(__fdiv_rn(__fsub_rn(scaled, kDeviceMean[channel]), kDeviceDeviation[channel]));
}

}  // namespace slipstream
