#include "data/float_conversion.cuh"
#include "models/sgd_kernel.h"

namespace slipstream {
namespace {

constexpr int kThreads = 256;
constexpr int kWidth = 4;  // elements that a thread reads at once

template <typename Value>
struct alignas(kWidth * sizeof(Value)) Group {
  Value values[kWidth];
};

// The last entry that begins at or before the chunk.
__device__ const SgdEntry& entry_of(const SgdJob& job, int chunk) {
  int low = 0;
  int high = job.count;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    (job.entries[middle].first_chunk <= chunk ? low : high) = middle;
  }
  return job.entries[low];
}

// Calls visit(first, n) for this thread's groups of a chunk: n is kWidth but for a parameter's last elements.
template <typename Visit>
__device__ void for_each_group(const SgdEntry& entry, Visit visit) {
  const int begin = (static_cast<int>(blockIdx.x) - entry.first_chunk) * kSgdChunk;
  const int end = min(begin + kSgdChunk, entry.count);
  for (int i = begin + static_cast<int>(threadIdx.x) * kWidth; i < end; i += kThreads * kWidth) {
    visit(i, min(kWidth, end - i));
  }
}

template <typename Value>
__device__ Group<Value> read(const Value* from, int first, int n) {
  if (n == kWidth) return *reinterpret_cast<const Group<Value>*>(from + first);
  Group<Value> group{};
  for (int i = 0; i < n; ++i) group.values[i] = from[first + i];
  return group;
}

template <typename Value>
__device__ void write(Value* to, int first, int n, const Group<Value>& group) {
  if (n == kWidth) {
    *reinterpret_cast<Group<Value>*>(to + first) = group;
  } else {
    for (int i = 0; i < n; ++i) to[first + i] = group.values[i];
  }
}

template <typename Gradient>
__device__ void find_inf_in(const SgdEntry& entry, float* found_inf) {
  const auto* gradient = static_cast<const Gradient*>(entry.gradient);
  for_each_group(entry, [&](int first, int n) {
    const Group<Gradient> group = read(gradient, first, n);
    bool finite = true;
    for (const Gradient value : group.values) finite = finite && isfinite(to_float(value));
    if (!finite) *found_inf = 1;
  });
}

template <typename Gradient, typename Cast>
__device__ void step_on(const SgdJob& job, const SgdEntry& entry, float scale, float lr) {
  const auto* gradients = static_cast<const Gradient*>(entry.gradient);
  auto* casts = static_cast<Cast*>(entry.cast);
  for_each_group(entry, [&](int first, int n) {
    const Group<Gradient> gradient = read(gradients, first, n);
    Group<float> parameter = read(entry.parameter, first, n);
    Group<float> momentum = read(entry.momentum, first, n);
    Group<Cast> cast;
    for (int i = 0; i < kWidth; ++i) {
      const float descent = to_float(gradient.values[i]) * scale + job.weight_decay * parameter.values[i];
      momentum.values[i] = job.momentum * momentum.values[i] + descent;
      parameter.values[i] -= lr * momentum.values[i];
      cast.values[i] = from_float<Cast>(parameter.values[i]);
    }
    write(entry.momentum, first, n, momentum);
    write(entry.parameter, first, n, parameter);
    if (casts != nullptr) write(casts, first, n, cast);
  });
}

template <typename Cast>
__global__ void __launch_bounds__(kThreads) find_inf(const __grid_constant__ SgdJob job, float* found_inf) {
  const SgdEntry& entry = entry_of(job, static_cast<int>(blockIdx.x));
  if (entry.gradient_of_casts) {
    find_inf_in<Cast>(entry, found_inf);
  } else {
    find_inf_in<float>(entry, found_inf);
  }
}

template <typename Cast>
__global__ void __launch_bounds__(kThreads) sgd(const __grid_constant__ SgdJob job) {
  if (job.scale != nullptr && *job.found_inf != 0) return;
  const float scale = job.scale != nullptr ? 1 / *job.scale : 1;
  const SgdEntry& entry = entry_of(job, static_cast<int>(blockIdx.x));
  if (entry.gradient_of_casts) {
    step_on<Cast, Cast>(job, entry, scale, *job.lr);
  } else {
    step_on<float, Cast>(job, entry, scale, *job.lr);
  }
}

}  // namespace

cudaError_t launch_find_inf(const SgdJob& job, float* found_inf, cudaStream_t stream) {
  if (job.type == CastType::kFloat16) {
    slipstream::find_inf<__half><<<job.chunks, kThreads, 0, stream>>>(job, found_inf);
  } else {
    slipstream::find_inf<__nv_bfloat16><<<job.chunks, kThreads, 0, stream>>>(job, found_inf);
  }
  return cudaGetLastError();
}

cudaError_t launch_sgd(const SgdJob& job, cudaStream_t stream) {
  if (job.type == CastType::kFloat16) {
    sgd<__half><<<job.chunks, kThreads, 0, stream>>>(job);
  } else {
    sgd<__nv_bfloat16><<<job.chunks, kThreads, 0, stream>>>(job);
  }
  return cudaGetLastError();
}

}  // namespace slipstream
