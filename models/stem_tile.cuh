#pragma once

#include <cuda_pipeline.h>

#include <algorithm>
#include <cstdint>

#include "models/stem_kernel.h"

// How the first convolution's kernels cut their work, and the pixels that a tile of outputs sees.
//
// A pixel is 8 bytes, so two are one row of a tensor core's 8x8 tile, and the pixels that neighbouring
// outputs see of one image row begin 16 bytes apart: in shared memory the image itself is the matrix of all
// windows, with overlapping rows, and is read without bank conflicts. The product's inner dimension is, for
// each of the kernel's 7 rows, 8 taps of 4 channels: tap 0, a pixel before the kernel's first, and channel 3
// have weight 0.
namespace slipstream {

inline constexpr int kTileColumns = 112;  // of outputs; their rows differ by kernel
inline constexpr int kTileGroup = 16;     // of outputs beside each other, which a tensor core takes together
inline constexpr int kStemTaps = 8;       // kStemKernel, and one of weight 0
inline constexpr int kStemPadding = 3;
inline constexpr int kPixelsPerChunk = 2;  // of 16 bytes
inline constexpr int kChunkBytes = 16;
inline constexpr int kPatchChunks = kTileColumns + kStemTaps / kPixelsPerChunk - 1;
inline constexpr int kPatchRowBytes = kPatchChunks * kChunkBytes;

/// Rows of the image that kRows of outputs see.
template <int kRows>
inline constexpr int kPatchRows = 2 * kRows + kStemKernel - 2;

/// A tile's first output and how many it has.
struct StemTile {
  int image, row, column, rows, columns;

  __device__ int groups_of_row() const { return (columns + kTileGroup - 1) / kTileGroup; }
};

/// Tiles of kRows by kTileColumns outputs, image by image.
template <int kRows>
struct StemTiles {
  int height, width;  ///< of the output
  int down, across;
  int64_t count;

  __host__ __device__ explicit StemTiles(const StemProblem& problem)
      : height(problem.height / 2),
        width(problem.width / 2),
        down((height + kRows - 1) / kRows),
        across((width + kTileColumns - 1) / kTileColumns),
        count(static_cast<int64_t>(problem.images) * down * across) {}

  __device__ StemTile operator[](int64_t index) const {
    const int64_t line = index / across;
    const int column = static_cast<int>(index - line * across) * kTileColumns;
    const int image = static_cast<int>(line / down);
    const int row = static_cast<int>(line - static_cast<int64_t>(image) * down) * kRows;
    return {image, row, column, min(kRows, height - row), min(kTileColumns, width - column)};
  }

  /// Blocks that fill the device once, but no more than there are tiles.
  int blocks(const StemProblem& problem, int blocks_per_multiprocessor) const {
    return static_cast<int>(
        std::min<int64_t>(count, static_cast<int64_t>(problem.multiprocessors) * blocks_per_multiprocessor));
  }
};

/// Begins to copy 16 bytes, or zeros where `inside` is false, to shared memory.
__device__ inline void begin_copy(void* shared, const void* global, bool inside) {
  __pipeline_memcpy_async(shared, global, kChunkBytes, inside ? 0 : kChunkBytes);
}

/// Begins to copy the pixels that the tile's outputs see; those outside of the image are zeros. Byte
/// 2 * r * kPatchRowBytes + 16 * c is where those of the output in row r, column c of the tile begin.
template <int kRows, int kThreads>
__device__ void begin_patch(char* patch, const StemProblem& problem, const void* x, const StemTile& tile) {
  const int first_row = 2 * tile.row - kStemPadding;
  const int first_chunk = tile.column - (kStemPadding + 1) / kPixelsPerChunk;
  const int width = problem.width / kPixelsPerChunk;  // in chunks
  const char* const image = static_cast<const char*>(x) + static_cast<int64_t>(tile.image) * problem.height *
                                                              problem.width * (kChunkBytes / kPixelsPerChunk);
  for (int i = static_cast<int>(threadIdx.x); i < kPatchRows<kRows> * kPatchChunks; i += kThreads) {
    const int row = first_row + i / kPatchChunks;
    const int chunk = first_chunk + i % kPatchChunks;
    const bool inside = row >= 0 && row < problem.height && chunk >= 0 && chunk < width;
    const int64_t from = inside ? static_cast<int64_t>(row) * width + chunk : 0;
    begin_copy(patch + i * kChunkBytes, image + from * kChunkBytes, inside);
  }
}

/// Calls work(tile, buffer) for each of the block's tiles, with its pixels in shared memory: while one tile
/// is worked on, `begin` copies the next into the other of two buffers of kBytes.
template <int kBytes, typename Tiles, typename Begin, typename Work>
__device__ void for_my_tiles(const Tiles& tiles, char* buffers, Begin begin, Work work) {
  int64_t index = blockIdx.x;
  if (index < tiles.count) begin(tiles[index], buffers);
  __pipeline_commit();
  for (int which = 0; index < tiles.count; index += gridDim.x, which ^= 1) {
    const int64_t next = index + gridDim.x;
    if (next < tiles.count) begin(tiles[next], buffers + (which ^ 1) * kBytes);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    work(tiles[index], buffers + which * kBytes);
    __syncthreads();
  }
}

}  // namespace slipstream
