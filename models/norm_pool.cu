#include <type_traits>

#include "models/norm_device.cuh"
#include "models/norm_launch.cuh"

namespace slipstream {
namespace {

constexpr int kPoolThreads = 256;
constexpr int kBackwardThreads = 192;
constexpr int kBlocksPerMultiprocessor = 2;
constexpr int kMostLanes = 32;
constexpr int kCentre = 4;  // of a window's codes; always inside

// A pooled value's place; its window's centre is the input (2 * y, 2 * x).
struct PooledPixel {
  int image, y, x;
};

// In 32 bits, where a division is a fifth of the work of one in 64.
__device__ PooledPixel pooled_pixel(int height, int width, int64_t row) {
  const auto small = static_cast<unsigned>(row);
  const unsigned line = small / static_cast<unsigned>(width);
  const unsigned image = line / static_cast<unsigned>(height);
  return {static_cast<int>(image), static_cast<int>(line - image * static_cast<unsigned>(height)),
          static_cast<int>(small - line * static_cast<unsigned>(width))};
}

// The first of the largest of a window's vectors, channel by channel; of the smallest where `smallest` is
// true. Values that aren't numbers don't count.
template <typename Value, int kSize>
class Extreme {
 public:
  __device__ explicit Extreme(const bool (&smallest)[kSize]) {
#pragma unroll
    for (int c = 0; c < kSize; ++c) sign_[c] = smallest[c] ? -1.0F : 1.0F;
  }
  __device__ void restart() {
#pragma unroll
    for (int c = 0; c < kSize; ++c) {
      best_[c] = -INFINITY;
      code_[c] = kCentre;
    }
  }
  __device__ void take(const Vector<Value, kSize>& vector, int code) {
#pragma unroll
    for (int c = 0; c < kSize; ++c) {
      const float value = to_float(vector.values[c]) * sign_[c];
      const bool better = value > best_[c];
      best_[c] = better ? value : best_[c];
      code_[c] = better ? code : code_[c];
    }
  }
  __device__ Vector<Value, kSize> values() const {
    Vector<Value, kSize> vector;
#pragma unroll
    for (int c = 0; c < kSize; ++c) vector.values[c] = from_float<Value>(best_[c] * sign_[c]);
    return vector;
  }
  __device__ int code(int c) const { return code_[c]; }

 private:
  float sign_[kSize], best_[kSize];
  int code_[kSize];
};

// The same for two channels of 16 bits at a time, which takes a third of the instructions: as one by one the
// comparisons took longer than the memory.
template <typename Value, int kSize>
requires(sizeof(Value) == 2 && kSize % 2 == 0) class Extreme<Value, kSize> {
 public:
  __device__ explicit Extreme(const bool (&smallest)[kSize]) {
#pragma unroll
    for (int pair = 0; pair < kPairs; ++pair) {
      flip_[pair] = (smallest[2 * pair] ? 0x8000U : 0U) | (smallest[2 * pair + 1] ? 0x80000000U : 0U);
    }
  }
  __device__ void restart() {
#pragma unroll
    for (int pair = 0; pair < kPairs; ++pair) {
      best_[pair] = bits(both(-INFINITY));
      code_[pair] = in_both(kCentre);
    }
  }
  __device__ void take(const Vector<Value, kSize>& vector, int code) {
#pragma unroll
    for (int pair = 0; pair < kPairs; ++pair) {
      unsigned value;
      memcpy(&value, &vector.values[2 * pair], sizeof value);
      value ^= flip_[pair];
      const unsigned better = __hgt2_mask(pair_of(value), pair_of(best_[pair]));
      best_[pair] = (value & better) | (best_[pair] & ~better);
      code_[pair] = (in_both(code) & better) | (code_[pair] & ~better);
    }
  }
  __device__ Vector<Value, kSize> values() const {
    Vector<Value, kSize> vector;
#pragma unroll
    for (int pair = 0; pair < kPairs; ++pair) {
      const unsigned value = best_[pair] ^ flip_[pair];
      memcpy(&vector.values[2 * pair], &value, sizeof value);
    }
    return vector;
  }
  __device__ int code(int c) const { return static_cast<int>(code_[c / 2] >> (c % 2 * 16) & 0xFFFFU); }

 private:
  static constexpr int kPairs = kSize / 2;
  using Pair = std::conditional_t<std::is_same_v<Value, __half>, __half2, __nv_bfloat162>;

  static __device__ unsigned in_both(int code) { return static_cast<unsigned>(code) * 0x10001U; }
  static __device__ Pair both(float value) { return {from_float<Value>(value), from_float<Value>(value)}; }
  static __device__ unsigned bits(Pair pair) {
    unsigned result;
    memcpy(&result, &pair, sizeof result);
    return result;
  }
  static __device__ Pair pair_of(unsigned bits) {
    Pair result;
    memcpy(&result, &bits, sizeof result);
    return result;
  }

  unsigned flip_[kPairs], best_[kPairs], code_[kPairs];
};

// One vector of pooled values at a time. The norm and the ReLU are monotonous: it is the largest x that wins,
// or the smallest where the norm's scale is negative, compared before anything is rounded. (Where the weight
// is 0 all tie; the largest then wins, though it isn't the first.)
template <typename Value, int kSize>
__global__ void __launch_bounds__(kPoolThreads, kBlocksPerMultiprocessor)
    norm_pool(const __grid_constant__ PoolJob job, const int pooled_height, const int pooled_width) {
  const PoolSizes sizes = job.sizes;
  const int channels = job.matrix.channels;
  const Place place = my_place<kSize>(job.matrix);
  if (!place.inside) return;
  const Value* const x = static_cast<const Value*>(job.main.x) + place.channel;
  Affine<kSize> norm;
  norm.read(job.main, place.channel);
  bool falling[kSize];
#pragma unroll
  for (int i = 0; i < kSize; ++i) falling[i] = norm.scale[i] < 0;
  Extreme<Value, kSize> extreme(falling);

  const int64_t rows = static_cast<int64_t>(sizes.images) * pooled_height * pooled_width;
  for (int64_t i = place.first; i < rows; i += place.stride) {
    const int64_t row = rows - 1 - i;  // as apply() does
    const PooledPixel at = pooled_pixel(pooled_height, pooled_width, row);
    const Value* const image = x + static_cast<int64_t>(at.image) * sizes.height * sizes.width * channels;
    Vector<Value, kSize> window[9];
    bool inside[9];
#pragma unroll
    for (int code = 0; code < 9; ++code) {
      const int h = 2 * at.y - 1 + code / 3;
      const int w = 2 * at.x - 1 + code % 3;
      inside[code] = h >= 0 && h < sizes.height && w >= 0 && w < sizes.width;
      if (inside[code]) {
        window[code] =
            load<kSize, Use::kAgain>(image + (static_cast<int64_t>(h) * sizes.width + w) * channels);
      }
    }
    extreme.restart();
#pragma unroll
    for (int code = 0; code < 9; ++code) {
      if (inside[code]) extreme.take(window[code], code);
    }
    const Vector<Value, kSize> best = extreme.values();
    float y[kSize];
    Vector<uint8_t, kSize> codes;
#pragma unroll
    for (int c = 0; c < kSize; ++c) {
      const float value = norm(c, to_float(best.values[c]));
      const bool passes = passes_relu<Value>(value);
      y[c] = passes ? value : 0.0F;
      codes.values[c] = passes ? static_cast<uint8_t>(extreme.code(c)) : kNoWinner;
    }
    const int64_t out = row * channels + place.channel;
    store<kSize>(static_cast<Value*>(job.y) + out, rounded<Value>(y));
    store<kSize>(static_cast<Value*>(job.winners) + out, best);
    store<kSize>(job.codes + out, codes);
  }
}

// A thread takes the square of 2x2 inputs that begins at the centre of a window. Beside that window's
// gradient they can get those of the windows to the right and below: each gradient is gathered, none is
// scattered.
template <typename Value, int kSize>
__global__ void __launch_bounds__(kBackwardThreads, kBlocksPerMultiprocessor)
    norm_pool_backward(const __grid_constant__ PoolBackwardJob job, const int pooled_height,
                       const int pooled_width) {
  const PoolSizes sizes = job.sizes;
  const int channels = job.matrix.channels;
  const Place place = my_place<kSize>(job.matrix);
  if (!place.inside) return;
  const Value* const dy = static_cast<const Value*>(job.dy) + place.channel;
  const uint8_t* const codes = job.codes + place.channel;
  Derivative<kSize> derivative;
  derivative.read(job.main, job.dbias, job.dweight, job.matrix.rows, place.channel);

  const int64_t rows = static_cast<int64_t>(sizes.images) * pooled_height * pooled_width;
  for (int64_t i = place.first; i < rows; i += place.stride) {
    const int64_t row = rows - 1 - i;
    const PooledPixel at = pooled_pixel(pooled_height, pooled_width, row);
    const int64_t corner =
        (static_cast<int64_t>(at.image) * sizes.height + 2 * at.y) * sizes.width + 2 * at.x;
    Vector<Value, kSize> gradients[4];
    Vector<uint8_t, kSize> winners[4];
    Vector<Value, kSize> inputs[4];
    bool is_window[4];
    bool is_input[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const int down = k / 2;
      const int right = k % 2;
      is_window[k] = at.y + down < pooled_height && at.x + right < pooled_width;
      is_input[k] = 2 * at.y + down < sizes.height && 2 * at.x + right < sizes.width;
      if (is_window[k]) {
        const int64_t window = (row + down * pooled_width + right) * channels;
        gradients[k] = load<kSize, Use::kAgain>(dy + window);
        winners[k] = load<kSize, Use::kAgain>(codes + window);
      }
      if (is_input[k]) {
        const int64_t input = (corner + down * sizes.width + right) * channels + place.channel;
        inputs[k] = load<kSize, Use::kLast>(static_cast<const Value*>(job.main.x) + input);
      }
    }
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      if (!is_input[k]) continue;
      const int down = k / 2;
      const int right = k % 2;
      float out[kSize] = {};
#pragma unroll
      for (int window = 0; window < 4; ++window) {
        const int window_down = window / 2;
        const int window_right = window % 2;
        if (window_down > down || window_right > right || !is_window[window]) continue;
        const int code = (down + 1 - 2 * window_down) * 3 + right + 1 - 2 * window_right;
#pragma unroll
        for (int c = 0; c < kSize; ++c) {
          out[c] += winners[window].values[c] == code ? to_float(gradients[window].values[c]) : 0.0F;
        }
      }
#pragma unroll
      for (int c = 0; c < kSize; ++c) out[c] = derivative(c, out[c], to_float(inputs[k].values[c]));
      const int64_t input = (corner + down * sizes.width + right) * channels + place.channel;
      store<kSize>(static_cast<Value*>(job.dx) + input, rounded<Value>(out));
    }
  }
}

NormGrid grid(NormMatrix matrix, const PoolSizes& sizes, int threads) {
  matrix.rows = sizes.pooled();
  return norm_grid(matrix, threads, kBlocksPerMultiprocessor, kMostLanes);
}

}  // namespace

cudaError_t launch_pool(const PoolJob& job, cudaStream_t stream) {
  const NormGrid g = grid(job.matrix, job.sizes, kPoolThreads);
  return for_type(job.matrix, [&]<typename Value, int kSize>() {
    norm_pool<Value, kSize>
        <<<g.blocks(), g.threads(), 0, stream>>>(job, job.sizes.pooled_height(), job.sizes.pooled_width());
  });
}

cudaError_t launch_pool_backward(const PoolBackwardJob& job, cudaStream_t stream) {
  const NormGrid g = grid(job.matrix, job.sizes, kBackwardThreads);
  return for_type(job.matrix, [&]<typename Value, int kSize>() {
    norm_pool_backward<Value, kSize>
        <<<g.blocks(), g.threads(), 0, stream>>>(job, job.sizes.pooled_height(), job.sizes.pooled_width());
  });
}

}  // namespace slipstream
