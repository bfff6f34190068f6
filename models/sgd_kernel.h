#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace slipstream {

/// The type of casts, and of gradients that aren't float.
enum class CastType { kFloat16, kBfloat16 };

/// Memory of one parameter; the pointers are on 16-byte boundaries.
struct SgdEntry {
  float* parameter;
  float* momentum;
  const void* gradient;
  void* cast;              ///< or null
  int32_t count;           ///< elements
  int32_t first_chunk;     ///< chunks of the entries before
  bool gradient_of_casts;  ///< it is of the casts' type, else float
};

/// What one launch does. It travels as the kernel's parameter, of which CUDA takes 32,764 bytes.
inline constexpr int kMostSgdEntries = 512;
inline constexpr int kSgdChunk = 4096;  // elements of a block
struct SgdJob {
  SgdEntry entries[kMostSgdEntries];
  int count;
  int chunks;
  CastType type;
  float weight_decay;
  float momentum;
  const float* lr;
  const float* scale;      ///< or null
  const float* found_inf;  ///< read, with a scale
};

/// Sets *found_inf to 1 if a gradient of the job isn't finite.
cudaError_t launch_find_inf(const SgdJob& job, float* found_inf, cudaStream_t stream);

cudaError_t launch_sgd(const SgdJob& job, cudaStream_t stream);

}  // namespace slipstream
