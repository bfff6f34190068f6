#include "data/normalise_kernel.h"
#include "data/pixel_value.cuh"

namespace slipstream {
namespace {

// One thread a pixel.
template <typename Value>
__global__ void normalise_pixels(NormaliseJob job) {
  const int64_t pixel = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
  const int plane = job.size * job.size;
  if (pixel >= static_cast<int64_t>(job.n) * plane) return;
  const int n = static_cast<int>(pixel / plane);
  const int y = static_cast<int>(pixel % plane) / job.size;
  const int x = static_cast<int>(pixel % plane) % job.size;
  const int source_x = job.flips[n] != 0 ? job.size - 1 - x : x;
  const uint8_t* source = job.pixels + 3 * (static_cast<int64_t>(n) * plane + y * job.size + source_x);
  Value* target = static_cast<Value*>(job.images) + n * job.stride_n + y * job.stride_y + x * job.stride_x;
  for (int c = 0; c < 3; ++c) target[c * job.stride_c] = normalised<Value>(source[c], c);
}

}  // namespace

cudaError_t launch_normalise(const NormaliseJob& job, cudaStream_t stream) {
  constexpr int kThreads = 256;
  const int64_t pixels = static_cast<int64_t>(job.n) * job.size * job.size;
  const auto blocks = static_cast<unsigned>((pixels + kThreads - 1) / kThreads);
  switch (job.type) {
    case PixelType::kFloat32:
      normalise_pixels<float><<<blocks, kThreads, 0, stream>>>(job);
      break;
    case PixelType::kFloat16:
      normalise_pixels<__half><<<blocks, kThreads, 0, stream>>>(job);
      break;
    case PixelType::kBfloat16:
      normalise_pixels<__nv_bfloat16><<<blocks, kThreads, 0, stream>>>(job);
      break;
  }
  return cudaGetLastError();
}

}  // namespace slipstream
