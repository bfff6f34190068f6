#pragma once

#include "models/norm_device.cuh"

// Sums over rows in a fixed order, so that equal inputs give equal bits: of a block's threads, and then of
// all blocks that share a tile of channels, by the one of them that is the last to deliver.
namespace slipstream {

/// At most so many threads beside each other: 8 vectors of 16 bytes are a cache line. The fewer, the more
/// tiles, and the less the last block has to add up.
inline constexpr int kReduceLanes = 8;

constexpr int kWarp = 32;
constexpr int kMostTileChannels = kReduceLanes * 8;

template <int kSums>
struct Sums {
  float values[kSums];
};

template <int kSums, int kThreads>
struct ReduceMemory {
  float warps[kSums][kThreads / kWarp][kMostTileChannels];
  float groups[kSums][kThreads];
  bool last;
};

__device__ inline int my_thread() { return static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x); }

/// Sums `values` of the block's threads of each vector. Thread t returns the sums of the tile's channel t, if
/// it has one. All threads must call.
template <int kSums, int kThreads, int kSize>
__device__ Sums<kSums> sum_of_block(float (&values)[kSums][kSize], ReduceMemory<kSums, kThreads>& memory) {
  const int lanes = static_cast<int>(blockDim.x);
  const int thread = my_thread();
#pragma unroll
  for (int sum = 0; sum < kSums; ++sum) {
#pragma unroll
    for (int i = 0; i < kSize; ++i) {
      for (int offset = kWarp / 2; offset >= lanes; offset /= 2) {
        values[sum][i] += __shfl_xor_sync(0xFFFFFFFFU, values[sum][i], offset);
      }
      if (thread % kWarp < lanes) memory.warps[sum][thread / kWarp][threadIdx.x * kSize + i] = values[sum][i];
    }
  }
  __syncthreads();
  Sums<kSums> sums = {};
  if (thread < lanes * kSize) {
#pragma unroll
    for (int sum = 0; sum < kSums; ++sum) {
      for (int warp = 0; warp < kThreads / kWarp; ++warp) sums.values[sum] += memory.warps[sum][warp][thread];
    }
  }
  return sums;
}

/// Whether this block is the last of its tile to call this. What the others wrote before is then visible to
/// it. All threads must call.
__device__ inline bool last_of_tile(int* arrivals, bool& shared) {
  __threadfence();
  __syncthreads();
  if (my_thread() == 0) {
    shared = atomicAdd(&arrivals[blockIdx.x], 1) == static_cast<int>(gridDim.y) - 1;
    if (shared) arrivals[blockIdx.x] = 0;
  }
  __syncthreads();
  __threadfence();
  return shared;
}

/// Sums partial(slice, channel) over all slices; thread t returns the sums of the tile's channel t, if it has
/// one and the matrix too. All threads must call.
template <int kSums, int kThreads, int kSize, typename Partial>
__device__ Sums<kSums> sum_of_slices(int channels, ReduceMemory<kSums, kThreads>& memory, Partial partial) {
  const int tile = static_cast<int>(blockDim.x) * kSize;
  const int groups = kThreads / tile;
  const int thread = my_thread();
  const int group = thread / tile;
  const int channel = static_cast<int>(blockIdx.x) * tile + thread % tile;
  Sums<kSums> sums = {};
  if (group < groups && channel < channels) {
#pragma unroll 4
    for (int slice = group; slice < static_cast<int>(gridDim.y); slice += groups) {
      const Sums<kSums> part = partial(slice, channel);
#pragma unroll
      for (int sum = 0; sum < kSums; ++sum) sums.values[sum] += part.values[sum];
    }
  }
#pragma unroll
  for (int sum = 0; sum < kSums; ++sum) memory.groups[sum][thread] = sums.values[sum];
  __syncthreads();
  if (thread < tile) {
#pragma unroll
    for (int sum = 0; sum < kSums; ++sum) {
      for (int other = 1; other < groups; ++other) {
        sums.values[sum] += memory.groups[sum][other * tile + thread];
      }
    }
  }
  return sums;
}

}  // namespace slipstream
