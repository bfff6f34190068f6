#include "models/stem_kernel.h"

namespace slipstream {
namespace {

constexpr int kThreads = 256;
constexpr int kSquaresBefore = 2;
constexpr int kSquaresOfPadding = 3;

// Two pixels beside each other: 6 values, in 3 words.
struct Pair {
  unsigned words[3];
};

__device__ Pair load(const void* images, int64_t pair) {
  const unsigned* const from = static_cast<const unsigned*>(images) + pair * 3;
  return {__ldcs(from), __ldcs(from + 1), __ldcs(from + 2)};
}

// A thread a square: two pairs become one pixel of 16 values.
__global__ void fold(const StemJob job) {
  const int64_t square = blockIdx.x * int64_t{kThreads} + threadIdx.x;
  if (square >= job.count * job.rows * job.columns) return;
  const int column = static_cast<int>(square % job.columns);
  const int64_t above = square / job.columns;  // rows of squares, of this image and those before
  const int row = static_cast<int>(above % job.rows);
  const int64_t image = above / job.rows;
  const Pair upper = load(job.images, 2 * above * job.columns + column);
  const Pair lower = load(job.images, (2 * above + 1) * job.columns + column);
  const int64_t folded_row = image * (job.rows + kSquaresOfPadding) + row + kSquaresBefore;
  const int64_t pixel = folded_row * (job.columns + kSquaresOfPadding) + column + kSquaresBefore;
  uint4* const to = static_cast<uint4*>(job.formed) + pixel * 2;
  to[0] = {upper.words[0], upper.words[1], upper.words[2], lower.words[0]};
  to[1] = {lower.words[1], lower.words[2], 0, 0};
}

// A thread a pair, which becomes two pixels of 4 values.
__global__ void pad(const StemJob job) {
  const int64_t pair = blockIdx.x * int64_t{kThreads} + threadIdx.x;
  if (pair >= job.count * job.rows * 2 * job.columns) return;
  const Pair given = load(job.images, pair);
  constexpr unsigned kUpperThenLower = 0x5432;  // the first word's upper half, then the second's lower
  static_cast<uint4*>(job.formed)[pair] = {given.words[0], given.words[1] & 0xFFFFU,
                                           __byte_perm(given.words[1], given.words[2], kUpperThenLower),
                                           given.words[2] >> 16};
}

unsigned blocks_for(int64_t threads) { return static_cast<unsigned>((threads + kThreads - 1) / kThreads); }

}  // namespace

cudaError_t launch_fold(const StemJob& job, cudaStream_t stream) {
  fold<<<blocks_for(job.count * job.rows * job.columns), kThreads, 0, stream>>>(job);
  return cudaGetLastError();
}

cudaError_t launch_pad(const StemJob& job, cudaStream_t stream) {
  pad<<<blocks_for(job.count * job.rows * 2 * job.columns), kThreads, 0, stream>>>(job);
  return cudaGetLastError();
}

}  // namespace slipstream
