#pragma once

#include <algorithm>
#include <bit>

#include "models/kernel_type.cuh"
#include "models/norm_jobs.h"

namespace slipstream {

/// A block's place in a matrix: `lanes` threads beside each other take a vector of channels each, the others
/// rows below. `tiles` blocks cover the channels; `slices` blocks share a tile's rows, one after the other.
struct NormGrid {
  int lanes, rows, tiles, slices;

  dim3 blocks() const { return {static_cast<unsigned>(tiles), static_cast<unsigned>(slices)}; }
  dim3 threads() const { return {static_cast<unsigned>(lanes), static_cast<unsigned>(rows)}; }
};

/// The grid that fills the device once. `most_lanes` is a power of two that divides `threads`.
inline NormGrid norm_grid(const NormMatrix& matrix, int threads, int blocks_per_multiprocessor,
                          int most_lanes) {
  const int columns = matrix.channels / matrix.vector();
  const int lanes = std::min(most_lanes, static_cast<int>(std::bit_ceil(static_cast<unsigned>(columns))));
  const int rows = threads / lanes;
  const int tiles = (columns + lanes - 1) / lanes;
  const int64_t most_slices = std::min<int64_t>((matrix.rows + rows - 1) / rows, 65535);
  const int64_t slices = std::clamp<int64_t>(
      static_cast<int64_t>(matrix.multiprocessors) * blocks_per_multiprocessor / tiles, 1, most_slices);
  return {lanes, rows, tiles, static_cast<int>(slices)};
}

/// Calls launch.operator()<Value, vector>() for the matrix's type and width.
template <typename Launch>
cudaError_t for_type(const NormMatrix& matrix, Launch launch) {
  return for_value(matrix.type, [&]<typename Value>() {
    constexpr int kWide = 16 / static_cast<int>(sizeof(Value));
    matrix.vector() > 1 ? launch.template operator()<Value, kWide>() : launch.template operator()<Value, 1>();
  });
}

}  // namespace slipstream
