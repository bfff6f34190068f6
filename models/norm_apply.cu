#include "models/norm_device.cuh"
#include "models/norm_launch.cuh"

namespace slipstream {
namespace {

constexpr int kThreads = 256;
constexpr int kMostLanes = 32;

enum class Around { kNothing, kTensor, kNorm };

// Chosen so that registers suffice and a multiprocessor has 48 kB in flight.
template <Around kAround>
constexpr int kBlocksPerMultiprocessor = kAround == Around::kNorm ? 2 : 3;
template <Around kAround>
constexpr int kTogether = kAround == Around::kNothing  ? 4
                          : kAround == Around::kTensor ? 2
                                                       : 3;

// Rows are taken from the last to the first: the statistics' pass went the other way, and the cache holds its
// end.
template <typename Value, int kSize, Around kAround>
__global__ void __launch_bounds__(kThreads, kBlocksPerMultiprocessor<kAround>)
    norm_apply(const __grid_constant__ ApplyJob job) {
  constexpr bool kHasAround = kAround != Around::kNothing;
  struct Loaded {
    Vector<Value, kSize> x;
    Vector<Value, kHasAround ? kSize : 1> around;
  };
  const int64_t rows = job.matrix.rows;
  const int channels = job.matrix.channels;
  const Place place = my_place<kSize>(job.matrix);
  if (!place.inside) return;
  const Value* const x = static_cast<const Value*>(job.main.x) + place.channel;
  const Value* const around = static_cast<const Value*>(job.around.x) + place.channel;
  Value* const y = static_cast<Value*>(job.y) + place.channel;
  Affine<kSize> norm;
  norm.read(job.main, place.channel, job.invstd_is_variance, job.epsilon);
  [[maybe_unused]] Affine<kSize> around_norm;
  if constexpr (kAround == Around::kNorm) {
    around_norm.read(job.around, place.channel, job.invstd_is_variance, job.epsilon);
  }

  for_my_rows<kTogether<kAround>>(
      place, rows,
      [&](int64_t row) {
        const int64_t at = (rows - 1 - row) * channels;
        Loaded loaded;
        loaded.x = load<kSize, Use::kLast>(x + at);
        if constexpr (kHasAround) loaded.around = load<kSize, Use::kLast>(around + at);
        return loaded;
      },
      [&](int64_t row, const Loaded& loaded) {
        const int64_t at = (rows - 1 - row) * channels;
        float out[kSize];
        unsigned bits = 0;
#pragma unroll
        for (int i = 0; i < kSize; ++i) {
          float value = norm(i, to_float(loaded.x.values[i]));
          if constexpr (kAround == Around::kTensor) value += to_float(loaded.around.values[i]);
          if constexpr (kAround == Around::kNorm) value += around_norm(i, to_float(loaded.around.values[i]));
          const bool passes = passes_relu<Value>(value);
          out[i] = passes ? value : 0.0F;
          bits |= (passes ? 1U : 0U) << i;
        }
        store<kSize>(y + at, rounded<Value>(out));
        if constexpr (kHasAround) {
          if (job.mask != nullptr) job.mask[(at + place.channel) / kSize] = static_cast<uint8_t>(bits);
        }
      });
}

template <Around kAround>
cudaError_t launch(const ApplyJob& job, cudaStream_t stream) {
  const NormGrid g = norm_grid(job.matrix, kThreads, kBlocksPerMultiprocessor<kAround>, kMostLanes);
  return for_type(job.matrix, [&]<typename Value, int kSize>() {
    norm_apply<Value, kSize, kAround><<<g.blocks(), g.threads(), 0, stream>>>(job);
  });
}

}  // namespace

cudaError_t launch_apply(const ApplyJob& job, cudaStream_t stream) {
  if (job.around.x == nullptr) return launch<Around::kNothing>(job, stream);
  if (job.around.weight == nullptr) return launch<Around::kTensor>(job, stream);
  return launch<Around::kNorm>(job, stream);
}

}  // namespace slipstream
