#include "models/stem_kernel.h"

namespace slipstream {
namespace {

constexpr int kThreads = 256;

// A thread a pair: 6 values in 3 words become 8 in 4.
__global__ void pad(const PadJob job) {
  const int64_t pair = blockIdx.x * int64_t{kThreads} + threadIdx.x;
  if (pair >= job.pairs) return;
  const unsigned* const from = static_cast<const unsigned*>(job.images) + pair * 3;
  const unsigned words[] = {__ldcs(from), __ldcs(from + 1), __ldcs(from + 2)};
  constexpr unsigned kUpperThenLower = 0x5432;  // the first word's upper half, then the second's lower
  static_cast<uint4*>(job.padded)[pair] = {words[0], words[1] & 0xFFFFU,
                                           __byte_perm(words[1], words[2], kUpperThenLower), words[2] >> 16};
}

}  // namespace

cudaError_t launch_pad(const PadJob& job, cudaStream_t stream) {
  pad<<<static_cast<unsigned>((job.pairs + kThreads - 1) / kThreads), kThreads, 0, stream>>>(job);
  return cudaGetLastError();
}

}  // namespace slipstream
