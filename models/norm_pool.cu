#include "models/norm_device.cuh"
#include "models/norm_launch.cuh"

namespace slipstream {
namespace {

constexpr int kPoolThreads = 256;
constexpr int kBackwardThreads = 192;
constexpr int kBlocksPerMultiprocessor = 2;
constexpr int kMostLanes = 32;

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
  float sign[kSize];
#pragma unroll
  for (int i = 0; i < kSize; ++i) sign[i] = norm.scale[i] < 0 ? -1.0F : 1.0F;

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
    float best[kSize];
    int winner[kSize];
#pragma unroll
    for (int c = 0; c < kSize; ++c) {
      best[c] = -INFINITY;
      winner[c] = 4;  // the centre is always inside
    }
#pragma unroll
    for (int code = 0; code < 9; ++code) {
      if (!inside[code]) continue;
#pragma unroll
      for (int c = 0; c < kSize; ++c) {
        const float signed_x = to_float(window[code].values[c]) * sign[c];
        const bool better = signed_x > best[c];
        best[c] = better ? signed_x : best[c];
        winner[c] = better ? code : winner[c];
      }
    }
    float y[kSize];
    float best_x[kSize];
    Vector<uint8_t, kSize> codes;
#pragma unroll
    for (int c = 0; c < kSize; ++c) {
      best_x[c] = best[c] * sign[c];
      const float value = norm(c, best_x[c]);
      const bool passes = passes_relu<Value>(value);
      y[c] = passes ? value : 0.0F;
      codes.values[c] = passes ? static_cast<uint8_t>(winner[c]) : kNoWinner;
    }
    const int64_t out = row * channels + place.channel;
    store<kSize>(static_cast<Value*>(job.y) + out, rounded<Value>(y));
    store<kSize>(static_cast<Value*>(job.winners) + out, rounded<Value>(best_x));
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
