#include "data/float_conversion.cuh"
#include "models/kernel_type.cuh"
#include "models/stem_tile.cuh"
#include "models/tensor_core.cuh"

namespace slipstream {
namespace {

// The product's rows are the 64 channels, its columns the kernel's 7 rows of 8 taps of 4 channels, and its
// inner dimension are the outputs. All of it lies in a block's registers: a warp has all rows of a quarter of
// the columns.
constexpr int kThreads = 128;
constexpr int kBlocksPerMultiprocessor = 2;
constexpr int kRows = 2;
constexpr int kWarp = 32;
constexpr int kWarps = kThreads / kWarp;
constexpr int kTilesDown = kStemChannels / 16;
constexpr int kTilesAcross = kStemKernel * kStemTaps * 4 / 8 / kWarps;  // a tile of columns is a chunk
constexpr int kChunksPerRow = kStemTaps / kPixelsPerChunk;
constexpr int kSums = kTilesDown * kTilesAcross * 4;  // of a lane

constexpr int kPatchBytes = kPatchRows<kRows> * kPatchRowBytes;
constexpr int kOutputs = kRows * kTileColumns;
constexpr int kOutputBytes = kStemChannels * 2;
constexpr int kOutputChunks = kOutputBytes / kChunkBytes;
constexpr int kBufferBytes = kPatchBytes + kOutputs * kOutputBytes;

using Tiles = StemTiles<kRows>;

// Chunks of an output's gradient are mixed, or 8 outputs' rows would lie in the same banks.
__device__ int mixed(int output, int chunk) { return output * kOutputChunks + (chunk ^ (output % 8)); }

__device__ void begin_gradient(char* buffer, const StemGradientJob& job, const Tiles& tiles,
                               const StemTile& tile) {
  for (int i = static_cast<int>(threadIdx.x); i < kOutputs * kOutputChunks; i += kThreads) {
    const int output = i / kOutputChunks;
    const int chunk = i % kOutputChunks;
    const int row = output / kTileColumns;
    const int column = output % kTileColumns;
    const bool inside = row < tile.rows && column < tile.columns;
    const int64_t line = static_cast<int64_t>(tile.image) * tiles.height + tile.row + row;
    const int64_t from = inside ? (line * tiles.width + tile.column + column) * kOutputChunks + chunk : 0;
    begin_copy(buffer + mixed(output, chunk) * kChunkBytes,
               static_cast<const char*>(job.dy) + from * kChunkBytes, inside);
  }
}

template <typename Value>
__global__ void __launch_bounds__(kThreads, kBlocksPerMultiprocessor)
    stem_conv_gradient(const __grid_constant__ StemGradientJob job) {
  extern __shared__ uint4 shared[];
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  // Rows of tiles, by load_tiles_transposed(): outputs are rows, to become columns of the first factor (8
  // channels, the next 8, then both for the next 8 outputs) and rows of the second (8 outputs, the next 8,
  // then both for the next chunk).
  const int gradient_output = lane % 8 + lane / 16 * 8;
  const int gradient_chunk = lane / 8 % 2;
  unsigned window[(kTilesAcross + 1) / 2];
#pragma unroll
  for (int pair = 0; pair < (kTilesAcross + 1) / 2; ++pair) {
    const int last = kTilesAcross - 1;  // taken twice if there is no next
    const int chunk = warp * kTilesAcross + min(2 * pair + lane / 16, last);
    window[pair] = chunk / kChunksPerRow * kPatchRowBytes + (chunk % kChunksPerRow + lane % 16) * kChunkBytes;
  }
  FragmentC c[kTilesDown][kTilesAcross] = {};

  const Tiles tiles(job.problem);
  for_my_tiles<kBufferBytes>(
      tiles, reinterpret_cast<char*>(shared),
      [&](const StemTile& tile, char* buffer) {
        begin_patch<kRows, kThreads>(buffer, job.problem, job.x, tile);
        begin_gradient(buffer + kPatchBytes, job, tiles, tile);
      },
      [&](const StemTile& tile, const char* buffer) {
        const unsigned patch = shared_address(buffer);
        const unsigned gradient = patch + kPatchBytes;
        const int groups = tile.groups_of_row();
        for (int group = 0; group < tile.rows * groups; ++group) {
          const int row = group / groups;
          const int column = (group - row * groups) * kTileGroup;
          const int output = row * kTileColumns + column + gradient_output;
          FragmentA a[kTilesDown];
#pragma unroll
          for (int i = 0; i < kTilesDown; ++i) {
            load_tiles_transposed(a[i].words, gradient + mixed(output, 2 * i + gradient_chunk) * kChunkBytes);
          }
          const unsigned windows = patch + 2 * row * kPatchRowBytes + column * kChunkBytes;
#pragma unroll
          for (int j = 0; j < kTilesAcross; j += 2) {
            unsigned words[4];
            load_tiles_transposed(words, windows + window[j / 2]);
#pragma unroll
            for (int i = 0; i < kTilesDown; ++i) {
              multiply_add<Value>(c[i][j], a[i], {words[0], words[1]});
              if (j + 1 < kTilesAcross) multiply_add<Value>(c[i][j + 1], a[i], {words[2], words[3]});
            }
          }
        }
      });

  float* const partials = job.partials + static_cast<int64_t>(blockIdx.x) * kSums * kThreads + threadIdx.x;
#pragma unroll
  for (int sum = 0; sum < kSums; ++sum) {
    partials[sum * kThreads] = c[sum / 4 / kTilesAcross][sum / 4 % kTilesAcross].values[sum % 4];
  }
}

// Block `sum` adds what the threads of all blocks had as their sum of that number.
constexpr int kAdders = 8;  // of one sum

template <typename Value>
__global__ void __launch_bounds__(kThreads* kAdders)
    stem_conv_gradient_sum(const __grid_constant__ StemGradientJob job, int parts) {
  __shared__ float shared[kAdders][kThreads];
  const int thread = static_cast<int>(threadIdx.x);
  const int sum = static_cast<int>(blockIdx.x);
  float total = 0;
#pragma unroll 8
  for (int part = static_cast<int>(threadIdx.y); part < parts; part += kAdders) {
    total += job.partials[(static_cast<int64_t>(part) * kSums + sum) * kThreads + thread];
  }
  shared[threadIdx.y][thread] = total;
  __syncthreads();
  if (threadIdx.y != 0) return;
  for (int adder = 1; adder < kAdders; ++adder) total += shared[adder][thread];

  const int g = thread % kWarp / 4;
  const int t = thread % 4;
  const int tile = sum / 4;
  const int channel = tile / kTilesAcross * 16 + g + sum % 4 / 2 * 8;
  const int chunk = thread / kWarp * kTilesAcross + tile % kTilesAcross;
  const int in_chunk = 2 * t + sum % 2;
  const int tap = chunk % kChunksPerRow * kPixelsPerChunk + in_chunk / 4 - 1;
  const int colour = in_chunk % 4;
  if (tap < 0 || colour >= kStemImageChannels) return;
  const int line = channel * kStemKernel + chunk / kChunksPerRow;
  static_cast<Value*>(job.dweight)[(line * kStemKernel + tap) * kStemImageChannels + colour] =
      from_float<Value>(total);
}

int parts_of(const StemProblem& problem) { return Tiles(problem).blocks(problem, kBlocksPerMultiprocessor); }

}  // namespace

int64_t stem_gradient_floats(const StemProblem& problem) {
  return static_cast<int64_t>(parts_of(problem)) * kSums * kThreads;
}

cudaError_t launch_stem_gradient(const StemGradientJob& job, cudaStream_t stream) {
  const int parts = parts_of(job.problem);
  constexpr int kBytes = 2 * kBufferBytes;
  return for_half(job.problem.type, [&]<typename Value>() {
    const cudaError_t allowed =
        cudaFuncSetAttribute(stem_conv_gradient<Value>, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes);
    if (allowed != cudaSuccess) return;  // which cudaGetLastError() tells
    stem_conv_gradient<Value><<<parts, kThreads, kBytes, stream>>>(job);
    stem_conv_gradient_sum<Value><<<kSums, dim3(kThreads, kAdders), 0, stream>>>(job, parts);
  });
}

}  // namespace slipstream
