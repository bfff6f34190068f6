#include <cub/block/block_reduce.cuh>

#include "data/float_conversion.cuh"
#include "models/cross_entropy_kernel.h"
#include "models/kernel_type.cuh"

namespace slipstream {
namespace {

constexpr int kThreads = 256;
constexpr float kNotLabelled = -1;
using Reduce = cub::BlockReduce<float, kThreads>;

struct Guess {
  float logit;
  int index;
};

/// The larger one; of equal ones the first.
struct Better {
  __device__ Guess operator()(const Guess& a, const Guess& b) const {
    if (a.logit != b.logit) return a.logit > b.logit ? a : b;
    return a.index < b.index ? a : b;
  }
};

// A block a row. With z the logits less their maximum, the loss of target t is log(sum(exp(z))) - z[t]; with
// smoothing s, (1 - s) times that and s times its mean over all t.
template <typename Value>
__global__ void __launch_bounds__(kThreads)
    cross_entropy(const CrossEntropyInput input, const CrossEntropyOutput output) {
  using ReduceGuess = cub::BlockReduce<Guess, kThreads>;
  __shared__ union {
    typename ReduceGuess::TempStorage guess;
    Reduce::TempStorage sum;
  } memory;
  __shared__ Guess best;
  const int row = static_cast<int>(blockIdx.x);
  const int thread = static_cast<int>(threadIdx.x);
  const Value* const logits = static_cast<const Value*>(input.logits) + int64_t{row} * input.classes;

  Guess mine{-INFINITY, input.classes};
  for (int i = thread; i < input.classes; i += kThreads) mine = Better()(mine, {to_float(logits[i]), i});
  const Guess of_block = ReduceGuess(memory.guess).Reduce(mine, Better());
  if (thread == 0) best = of_block;
  __syncthreads();

  float exponentials = 0;
  float total = 0;
  for (int i = thread; i < input.classes; i += kThreads) {
    const float z = to_float(logits[i]) - best.logit;
    exponentials += expf(z);
    total += z;
  }
  exponentials = Reduce(memory.sum).Sum(exponentials);
  __syncthreads();
  total = Reduce(memory.sum).Sum(total);
  if (thread != 0) return;
  const int64_t label = input.labels[row];
  const float log_sum = logf(exponentials);
  output.row_logs[row] = log_sum + best.logit;
  output.row_right[row] = label < 0 ? kNotLabelled : (label == best.index ? 1.0F : 0.0F);
  if (label < 0) return;
  const float of_target = log_sum - (to_float(logits[label]) - best.logit);
  const float of_all = log_sum - total / static_cast<float>(input.classes);
  // Without smoothing a logit of minus infinity, of which `of_all` knows, has no say.
  output.row_losses[row] =
      input.smoothing == 0 ? of_target : (1 - input.smoothing) * of_target + input.smoothing * of_all;
}

// One block, in a fixed order.
__global__ void __launch_bounds__(kThreads) sum_rows(const CrossEntropyOutput output, int count) {
  __shared__ Reduce::TempStorage memory;
  float loss = 0;
  float right = 0;
  float labelled = 0;
  for (int row = static_cast<int>(threadIdx.x); row < count; row += kThreads) {
    if (output.row_right[row] == kNotLabelled) continue;
    loss += output.row_losses[row];
    right += output.row_right[row];
    labelled += 1;
  }
  loss = Reduce(memory).Sum(loss);
  __syncthreads();
  right = Reduce(memory).Sum(right);
  __syncthreads();
  labelled = Reduce(memory).Sum(labelled);
  if (threadIdx.x != 0) return;
  output.totals[0] = loss / labelled;
  output.totals[1] = right;
  output.totals[2] = labelled;
}

template <typename Value>
__global__ void __launch_bounds__(kThreads)
    cross_entropy_backward(const CrossEntropyInput input, const CrossEntropyGradient gradient) {
  const int64_t first = int64_t{blockIdx.x} * input.classes;
  const Value* const logits = static_cast<const Value*>(input.logits) + first;
  Value* const dlogits = static_cast<Value*>(gradient.dlogits) + first;
  const int64_t label = input.labels[blockIdx.x];
  const float scale = label < 0 ? 0 : gradient.dloss[0] / gradient.totals[2];
  const float log_sum = gradient.row_logs[blockIdx.x];
  const float of_each = input.smoothing / static_cast<float>(input.classes);
  for (int i = static_cast<int>(threadIdx.x); i < input.classes; i += kThreads) {
    const float target = of_each + (i == label ? 1 - input.smoothing : 0);
    const float slope = scale * (expf(to_float(logits[i]) - log_sum) - target);
    dlogits[i] = from_float<Value>(label < 0 ? 0 : slope);
  }
}

}  // namespace

cudaError_t launch_cross_entropy(const CrossEntropyInput& input, const CrossEntropyOutput& output,
                                 cudaStream_t stream) {
  return for_value(input.type, [&]<typename Value>() {
    cross_entropy<Value><<<input.count, kThreads, 0, stream>>>(input, output);
    sum_rows<<<1, kThreads, 0, stream>>>(output, input.count);
  });
}

cudaError_t launch_cross_entropy_backward(const CrossEntropyInput& input,
                                          const CrossEntropyGradient& gradient, cudaStream_t stream) {
  return for_value(input.type, [&]<typename Value>() {
    cross_entropy_backward<Value><<<input.count, kThreads, 0, stream>>>(input, gradient);
  });
}

}  // namespace slipstream
