#include "models/norm_launch.cuh"
#include "models/norm_reduce.cuh"

namespace slipstream {
namespace {

// As few threads as have the registers that they need; a multiprocessor has 40 to 80 kB in flight.
constexpr int kReduceThreads = 320;
constexpr int kReduceBlocksPerMultiprocessor = 2;
constexpr int kApplyThreads = 256;
constexpr int kApplyBlocksPerMultiprocessor = 2;
constexpr int kApplyLanes = 32;
constexpr int kMostSums = 3;

// The sums over rows of dz, dz * (x - mean) and, with kOther, dz * (other's x - its mean). dz is rounded
// first: the next pass takes their means from the rounded one, and what rounding added to those goes with
// them.
template <typename Value, int kSize, Passed kPassed, bool kOther>
__global__ void __launch_bounds__(kReduceThreads, kReduceBlocksPerMultiprocessor)
    norm_backward_reduce(const __grid_constant__ BackwardReduceJob job) {
  constexpr int kSums = kOther ? 3 : 2;
  constexpr int kTogether = kOther ? 1 : 2;
  constexpr bool kMayBeTwo = kPassed != Passed::kByInput;
  constexpr int kMaskBytes = kPassed == Passed::kByWinner ? kSize : 1;
  constexpr Use kDyUse = kPassed == Passed::kByMask ? Use::kLast : Use::kAgain;
  struct Loaded {
    Vector<Value, kSize> x, dy;
    Vector<Value, kMayBeTwo ? kSize : 1> second;
    Vector<Value, kOther ? kSize : 1> other;
    Vector<uint8_t, kMaskBytes> mask;
  };
  __shared__ ReduceMemory<kSums, kReduceThreads> memory;
  const int64_t rows = job.matrix.rows;
  const int channels = job.matrix.channels;
  const Place place = my_place<kSize>(job.matrix);
  const Value* const x = static_cast<const Value*>(job.main.x) + place.channel;
  const Value* const other = static_cast<const Value*>(job.other.x) + place.channel;
  const Value* const dy = static_cast<const Value*>(job.dy[0]) + place.channel;
  const Value* const second = static_cast<const Value*>(job.dy[1]) + place.channel;
  Value* const dz = static_cast<Value*>(job.dz) + place.channel;
  const bool two = kMayBeTwo && job.dy[1] != nullptr;
  const bool keep = kMayBeTwo && job.dz != nullptr;

  float sums[kSums][kSize] = {};
  if (place.inside) {
    Affine<kSize> norm;
    norm.read(job.main, place.channel);
    float other_mean[kOther ? kSize : 1] = {};
    if constexpr (kOther) {
#pragma unroll
      for (int i = 0; i < kSize; ++i) other_mean[i] = job.other.mean[place.channel + i];
    }
    for_my_rows<kTogether>(
        place, rows,
        [&](int64_t row) {
          const int64_t at = row * channels;
          Loaded loaded;
          loaded.x = load<kSize, Use::kAgain>(x + at);
          loaded.dy = load<kSize, kDyUse>(dy + at);
          if constexpr (kMayBeTwo) {
            if (two) loaded.second = load<kSize, Use::kLast>(second + at);
          }
          if constexpr (kOther) loaded.other = load<kSize, Use::kAgain>(other + at);
          if constexpr (kPassed == Passed::kByMask) {
            loaded.mask = load<1, Use::kAgain>(job.mask + (at + place.channel) / kSize);
          }
          if constexpr (kPassed == Passed::kByWinner) {
            loaded.mask = load<kSize, Use::kAgain>(job.mask + at + place.channel);
          }
          return loaded;
        },
        [&](int64_t row, const Loaded& loaded) {
          float through[kSize];
#pragma unroll
          for (int i = 0; i < kSize; ++i) {
            const float input = to_float(loaded.x.values[i]);
            bool passed = false;
            if constexpr (kPassed == Passed::kByInput) passed = passes_relu<Value>(norm(i, input));
            if constexpr (kPassed == Passed::kByMask) passed = (loaded.mask.values[0] >> i & 1) != 0;
            if constexpr (kPassed == Passed::kByWinner) passed = loaded.mask.values[i] != kNoWinner;
            float gradient = to_float(loaded.dy.values[i]);
            if constexpr (kMayBeTwo) {
              if (two) {
                gradient = to_float(from_float<Value>(gradient + to_float(loaded.second.values[i])));
              }
            }
            if (!passed) gradient = 0;
            through[i] = gradient;
            sums[0][i] += gradient;
            sums[1][i] = fmaf(gradient, input - norm.mean[i], sums[1][i]);
            if constexpr (kOther) {
              sums[2][i] = fmaf(gradient, to_float(loaded.other.values[i]) - other_mean[i], sums[2][i]);
            }
          }
          if (keep) store<kSize>(dz + row * channels, rounded<Value>(through));
        });
  }
  const Sums<kSums> block = sum_of_block<kSums, kReduceThreads, kSize>(sums, memory);

  float* const partials = job.workspace.partials;
  const int thread = my_thread();
  const int tile = static_cast<int>(blockDim.x) * kSize;
  const int channel = static_cast<int>(blockIdx.x) * tile + thread;
  const bool mine = thread < tile && channel < channels;
  const auto partial = [&](int slice, int sum, int column) -> float& {
    return partials[(static_cast<int64_t>(slice) * kSums + sum) * channels + column];
  };
  if (mine) {
#pragma unroll
    for (int sum = 0; sum < kSums; ++sum)
      partial(static_cast<int>(blockIdx.y), sum, channel) = block.values[sum];
  }
  if (!last_of_tile(job.workspace.arrivals, memory.last)) return;

  const Sums<kSums> all =
      sum_of_slices<kSums, kReduceThreads, kSize>(channels, memory, [&](int slice, int column) {
        Sums<kSums> part;
#pragma unroll
        for (int sum = 0; sum < kSums; ++sum) part.values[sum] = __ldcg(&partial(slice, sum, column));
        return part;
      });
  if (!mine) return;
  job.dbias[channel] = all.values[0];
  job.dweight[channel] = all.values[1] * job.main.invstd[channel];
  if constexpr (kOther) {
    job.other_dbias[channel] = all.values[0];
    job.other_dweight[channel] = all.values[2] * job.other.invstd[channel];
  }
}

// From the last row to the first, as the forward pass's second kernel.
template <typename Value, int kSize, bool kByInput, bool kOther>
__global__ void __launch_bounds__(kApplyThreads, kApplyBlocksPerMultiprocessor)
    norm_backward_apply(const __grid_constant__ BackwardApplyJob job) {
  constexpr Use kDzUse = kByInput ? Use::kLast : Use::kAgain;
  constexpr int kTogether = kOther ? 2 : 4;
  struct Loaded {
    Vector<Value, kSize> x, dz;
    Vector<Value, kOther ? kSize : 1> other;
  };
  const int64_t rows = job.matrix.rows;
  const int channels = job.matrix.channels;
  const Place place = my_place<kSize>(job.matrix);
  if (!place.inside) return;
  const Value* const x = static_cast<const Value*>(job.main.x) + place.channel;
  const Value* const other = static_cast<const Value*>(job.other.x) + place.channel;
  const Value* const dz = static_cast<const Value*>(job.dz) + place.channel;
  Value* const dx = static_cast<Value*>(job.dx) + place.channel;
  Value* const other_dx = static_cast<Value*>(job.other_dx) + place.channel;
  [[maybe_unused]] Affine<kSize> norm;
  if constexpr (kByInput) norm.read(job.main, place.channel);
  Derivative<kSize> derivative;
  derivative.read(job.main, job.dbias, job.dweight, rows, place.channel);
  [[maybe_unused]] Derivative<kSize> other_derivative;
  if constexpr (kOther) other_derivative.read(job.other, job.dbias, job.other_dweight, rows, place.channel);

  for_my_rows<kTogether>(
      place, rows,
      [&](int64_t row) {
        const int64_t at = (rows - 1 - row) * channels;
        Loaded loaded;
        loaded.x = load<kSize, Use::kLast>(x + at);
        loaded.dz = load<kSize, kDzUse>(dz + at);
        if constexpr (kOther) loaded.other = load<kSize, Use::kLast>(other + at);
        return loaded;
      },
      [&](int64_t row, const Loaded& loaded) {
        const int64_t at = (rows - 1 - row) * channels;
        float out[kSize];
        float gradient[kSize];
#pragma unroll
        for (int i = 0; i < kSize; ++i) {
          const float input = to_float(loaded.x.values[i]);
          gradient[i] = to_float(loaded.dz.values[i]);
          if constexpr (kByInput) gradient[i] = passes_relu<Value>(norm(i, input)) ? gradient[i] : 0.0F;
          out[i] = derivative(i, gradient[i], input);
        }
        store<kSize>(dx + at, rounded<Value>(out));
        if constexpr (kOther) {
#pragma unroll
          for (int i = 0; i < kSize; ++i) {
            out[i] = other_derivative(i, gradient[i], to_float(loaded.other.values[i]));
          }
          store<kSize>(other_dx + at, rounded<Value>(out));
        }
      });
}

NormGrid reduce_grid(const NormMatrix& matrix) {
  return norm_grid(matrix, kReduceThreads, kReduceBlocksPerMultiprocessor, kReduceLanes);
}

}  // namespace

int64_t backward_reduce_floats(const NormMatrix& matrix) {
  return static_cast<int64_t>(reduce_grid(matrix).slices) * kMostSums * matrix.channels;
}

cudaError_t launch_backward_reduce(const BackwardReduceJob& job, cudaStream_t stream) {
  const NormGrid g = reduce_grid(job.matrix);
  return for_type(job.matrix, [&]<typename Value, int kSize>() {
    if (job.passed == Passed::kByInput) {
      norm_backward_reduce<Value, kSize, Passed::kByInput, false>
          <<<g.blocks(), g.threads(), 0, stream>>>(job);
    } else if (job.passed == Passed::kByWinner) {
      norm_backward_reduce<Value, kSize, Passed::kByWinner, false>
          <<<g.blocks(), g.threads(), 0, stream>>>(job);
    } else if (job.other.x == nullptr) {
      norm_backward_reduce<Value, kSize, Passed::kByMask, false><<<g.blocks(), g.threads(), 0, stream>>>(job);
    } else {
      norm_backward_reduce<Value, kSize, Passed::kByMask, true><<<g.blocks(), g.threads(), 0, stream>>>(job);
    }
  });
}

cudaError_t launch_backward_apply(const BackwardApplyJob& job, cudaStream_t stream) {
  const NormGrid g = norm_grid(job.matrix, kApplyThreads, kApplyBlocksPerMultiprocessor, kApplyLanes);
  return for_type(job.matrix, [&]<typename Value, int kSize>() {
    if (job.dz_is_dy) {
      norm_backward_apply<Value, kSize, true, false><<<g.blocks(), g.threads(), 0, stream>>>(job);
    } else if (job.other.x == nullptr) {
      norm_backward_apply<Value, kSize, false, false><<<g.blocks(), g.threads(), 0, stream>>>(job);
    } else {
      norm_backward_apply<Value, kSize, false, true><<<g.blocks(), g.threads(), 0, stream>>>(job);
    }
  });
}

}  // namespace slipstream
