#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

#include "models/norm_jobs.h"
#include "models/vector.cuh"

// What the norms' kernels share: a thread's rows, a norm's arithmetic.
namespace slipstream {

/// Whether `value`, rounded to Value, is above 0 or not a number, which a ReLU passes on: whether it is above
/// half of Value's smallest number. (Exactly half is rounded to the even one of the two: 0.)
template <typename Value>
__device__ bool passes_relu(float value);
template <>
__device__ inline bool passes_relu<float>(float value) {
  return !(value <= 0.0F);
}
template <>
__device__ inline bool passes_relu<__half>(float value) {
  return !(value <= 0x1p-25F);
}
template <>
__device__ inline bool passes_relu<__nv_bfloat16>(float value) {
  return !(value <= 0x1p-134F);
}

/// A thread's part of a matrix under a NormGrid: a vector of channels, and every stride-th row of it.
struct Place {
  int channel;    ///< the vector's first
  bool inside;    ///< whether there is such a channel; a tile may reach beyond the last
  int64_t first;  ///< row
  int64_t stride;
};

template <int kSize>
__device__ Place my_place(const NormMatrix& matrix) {
  const int channel = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) * kSize;
  return {channel, channel < matrix.channels, blockIdx.y * static_cast<int64_t>(blockDim.y) + threadIdx.y,
          gridDim.y * static_cast<int64_t>(blockDim.y)};
}

/// use(row, load(row)) for each of the thread's rows, kTogether loads in flight at a time.
template <int kTogether, typename Load, typename UseRow>
__device__ void for_my_rows(const Place& place, int64_t rows, Load load_row, UseRow use) {
  decltype(load_row(int64_t{})) loaded[kTogether];
  int64_t row = place.first;
  for (; row + (kTogether - 1) * place.stride < rows; row += kTogether * place.stride) {
#pragma unroll
    for (int i = 0; i < kTogether; ++i) loaded[i] = load_row(row + i * place.stride);
#pragma unroll
    for (int i = 0; i < kTogether; ++i) use(row + i * place.stride, loaded[i]);
  }
  if constexpr (kTogether > 1) {
#pragma unroll
    for (int i = 0; i < kTogether - 1; ++i) {
      if (row + i * place.stride < rows) loaded[i] = load_row(row + i * place.stride);
    }
#pragma unroll
    for (int i = 0; i < kTogether - 1; ++i) {
      if (row + i * place.stride < rows) use(row + i * place.stride, loaded[i]);
    }
  }
}

/// A norm over a vector of channels. One expression for forward and backward, so that both agree on its sign.
template <int kSize>
struct Affine {
  float mean[kSize], scale[kSize], bias[kSize];

  __device__ void read(const NormedTensor& norm, int channel, bool invstd_is_variance = false,
                       float epsilon = 0) {
#pragma unroll
    for (int i = 0; i < kSize; ++i) {
      float invstd = norm.invstd[channel + i];
      if (invstd_is_variance) invstd = 1.0F / sqrtf(invstd + epsilon);
      mean[i] = norm.mean[channel + i];
      scale[i] = __fmul_rn(norm.weight[channel + i], invstd);
      bias[i] = norm.bias[channel + i];
    }
  }
  // The mean is taken off first: x * scale + shift would cancel where it is large beside the deviation.
  __device__ float operator()(int i, float x) const {
    return __fmaf_rn(__fsub_rn(x, mean[i]), scale[i], bias[i]);
  }
};

/// A norm's derivative over a vector of channels.
template <int kSize>
struct Derivative {
  float mean[kSize], scale[kSize], dz_mean[kSize], slope[kSize];

  __device__ void read(const NormedTensor& norm, const float* dbias, const float* dweight, int64_t rows,
                       int channel) {
    const float share = 1.0F / static_cast<float>(rows);
#pragma unroll
    for (int i = 0; i < kSize; ++i) {
      const float invstd = norm.invstd[channel + i];
      mean[i] = norm.mean[channel + i];
      scale[i] = __fmul_rn(norm.weight[channel + i], invstd);
      dz_mean[i] = dbias[channel + i] * share;
      slope[i] = dweight[channel + i] * share * invstd;
    }
  }
  __device__ float operator()(int i, float dz, float x) const {
    return scale[i] * (dz - dz_mean[i] - (x - mean[i]) * slope[i]);
  }
};

}  // namespace slipstream
