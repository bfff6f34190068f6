#include "models/kernel_type.cuh"
#include "models/stem_tile.cuh"
#include "models/tensor_core.cuh"
#include "models/vector.cuh"

namespace slipstream {
namespace {

constexpr int kThreads = 128;
constexpr int kBlocksPerMultiprocessor = 2;  // with 3, registers run out
constexpr int kRows = 4;
constexpr int kPatchBytes = kPatchRows<kRows> * kPatchRowBytes;
constexpr int kWarp = 32;
constexpr int kHalves = 2;                          // of the channels: a warp has one
constexpr int kPairs = kThreads / kWarp / kHalves;  // of warps, which share outputs
constexpr int kWarpChannels = kStemChannels / kHalves;
constexpr int kTiles = kWarpChannels / 8;         // of a product, beside each other
constexpr int kSteps = kStemKernel * 2;           // along the inner dimension: half a kernel row, 4 taps
constexpr int kLaneChannels = kWarpChannels / 4;  // of an output

using Tiles = StemTiles<kRows>;

// A lane's part of the weight, for all of the kernel's life: column n of tile j is the channel that makes a
// lane's 2 columns of all tiles 8 neighbouring channels, 16 bytes of an output.
template <typename Value>
__device__ void read_weight(FragmentB (&b)[kSteps][kTiles], const Value* weight, int half, int lane) {
  const int g = lane / 4;
  const int t = lane % 4;
#pragma unroll
  for (int step = 0; step < kSteps; ++step) {
#pragma unroll
    for (int j = 0; j < kTiles; ++j) {
      const int channel = half * kWarpChannels + g / 2 * kLaneChannels + 2 * j + g % 2;
      Value values[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int inner = 2 * t + i % 2 + i / 2 * 8;
        const int tap = step % 2 * 4 + inner / 4 - 1;
        const int colour = inner % 4;
        const int at = ((channel * kStemKernel + step / 2) * kStemKernel + tap) * kStemImageChannels + colour;
        values[i] = tap >= 0 && colour < kStemImageChannels ? weight[at] : from_float<Value>(0);
      }
      memcpy(&b[step][j], values, sizeof values);
    }
  }
}

// The sums of a block's warps, by channel; through `memory`, which nobody reads any more.
__device__ void write_sums(float* sums, float (&sum)[kLaneChannels], float (&squares)[kLaneChannels],
                           int warp, int lane, char* memory) {
  auto* const shared = reinterpret_cast<float(*)[2][kStemChannels]>(memory);
  static_assert(kPairs * 2 * kStemChannels * sizeof(float) <= kPatchBytes);
#pragma unroll
  for (int i = 0; i < kLaneChannels; ++i) {
#pragma unroll
    for (int offset = 4; offset < kWarp; offset *= 2) {
      sum[i] += __shfl_xor_sync(0xFFFFFFFFU, sum[i], offset);
      squares[i] += __shfl_xor_sync(0xFFFFFFFFU, squares[i], offset);
    }
    if (lane < 4) {
      const int channel = warp % kHalves * kWarpChannels + lane * kLaneChannels + i;
      shared[warp / kHalves][0][channel] = sum[i];
      shared[warp / kHalves][1][channel] = squares[i];
    }
  }
  __syncthreads();
  static_assert(kThreads == 2 * kStemChannels);
  const int which = static_cast<int>(threadIdx.x) / kStemChannels;
  const int channel = static_cast<int>(threadIdx.x) % kStemChannels;
  float total = 0;
#pragma unroll
  for (int pair = 0; pair < kPairs; ++pair) total += shared[pair][which][channel];
  sums[blockIdx.x * kThreads + threadIdx.x] = total;
}

template <typename Value>
__global__ void __launch_bounds__(kThreads, kBlocksPerMultiprocessor)
    stem_conv_forward(const __grid_constant__ StemForwardJob job) {
  __shared__ alignas(kChunkBytes) char patches[2 * kPatchBytes];
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int half = warp % kHalves;
  FragmentB b[kSteps][kTiles];
  read_weight(b, static_cast<const Value*>(job.weight), half, lane);
  // Of a group's 16 windows, which lane's row is where: load_tiles() takes outputs 0 to 7, then 8 to 15, and
  // then the same two taps on.
  const unsigned my_row = ((lane % 16) + lane / 16) * kChunkBytes;
  const int my_channel = half * kWarpChannels + lane % 4 * kLaneChannels;
  float sum[kLaneChannels] = {};
  float squares[kLaneChannels] = {};

  const Tiles tiles(job.problem);
  for_my_tiles<kPatchBytes>(
      tiles, patches,
      [&](const StemTile& tile, char* patch) {
        begin_patch<kRows, kThreads>(patch, job.problem, job.x, tile);
      },
      [&](const StemTile& tile, const char* patch) {
        const int groups = tile.groups_of_row();
        for (int group = warp / kHalves; group < tile.rows * groups; group += kPairs) {
          const int row = group / groups;
          const int column = (group - row * groups) * kTileGroup;
          const unsigned windows =
              shared_address(patch) + 2 * row * kPatchRowBytes + column * kChunkBytes + my_row;
          FragmentC c[kTiles] = {};
#pragma unroll
          for (int step = 0; step < kSteps; ++step) {
            FragmentA a;
            load_tiles(a.words, windows + step / 2 * kPatchRowBytes + step % 2 * 2 * kChunkBytes);
#pragma unroll
            for (int j = 0; j < kTiles; ++j) multiply_add<Value>(c[j], a, b[step][j]);
          }
          const int64_t line =
              (static_cast<int64_t>(tile.image) * tiles.height + tile.row + row) * tiles.width;
#pragma unroll
          for (int lower = 0; lower < 2; ++lower) {
            const int at = column + lane / 4 + lower * 8;
            if (at >= tile.columns) continue;
            float values[kLaneChannels];
#pragma unroll
            for (int i = 0; i < kLaneChannels; ++i) {
              values[i] = c[i / 2].values[lower * 2 + i % 2];
              sum[i] += values[i];
              squares[i] = fmaf(values[i], values[i], squares[i]);
            }
            const int64_t to = (line + tile.column + at) * kStemChannels + my_channel;
            store<kLaneChannels>(static_cast<Value*>(job.y) + to, rounded<Value>(values));
          }
        }
      });
  write_sums(job.sums, sum, squares, warp, lane, patches);
}

}  // namespace

int stem_sum_parts(const StemProblem& problem) {
  return Tiles(problem).blocks(problem, kBlocksPerMultiprocessor);
}

cudaError_t launch_stem_forward(const StemForwardJob& job, cudaStream_t stream) {
  const int blocks = stem_sum_parts(job.problem);
  return for_half(job.problem.type,
                  [&]<typename Value>() { stem_conv_forward<Value><<<blocks, kThreads, 0, stream>>>(job); });
}

}  // namespace slipstream
