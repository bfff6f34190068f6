#include <algorithm>
#include <cstdint>

#include "pipeline/fill_kernel.h"

namespace slipstream {
namespace {

constexpr int kThreads = 256;
constexpr size_t kMostBlocks = 128;

__global__ void fill(const FillJob job) {
  const size_t first = blockIdx.x * size_t{kThreads} + threadIdx.x;
  const size_t step = gridDim.x * size_t{kThreads};
  if (reinterpret_cast<uintptr_t>(job.to) % sizeof(uint4) == 0 && job.bytes % sizeof(uint4) == 0) {
    const uint32_t word = job.value * 0x01010101U;
    auto* to = static_cast<uint4*>(job.to);
    for (size_t i = first; i < job.bytes / sizeof(uint4); i += step) to[i] = {word, word, word, word};
  } else {
    auto* to = static_cast<unsigned char*>(job.to);
    for (size_t i = first; i < job.bytes; i += step) to[i] = job.value;
  }
}

}  // namespace

cudaKernelNodeParams fill_node(FillJob& job, void* (&arguments)[1]) {
  arguments[0] = &job;
  const size_t blocks = (job.bytes / sizeof(uint4) + kThreads - 1) / kThreads;
  cudaKernelNodeParams node{};
  node.func = reinterpret_cast<void*>(&fill);
  node.gridDim = dim3(static_cast<unsigned>(std::clamp<size_t>(blocks, 1, kMostBlocks)));
  node.blockDim = dim3(kThreads);
  node.kernelParams = arguments;
  return node;
}

}  // namespace slipstream
