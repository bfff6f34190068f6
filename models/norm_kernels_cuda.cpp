#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include <limits>

#include "models/kernel_tensors.h"
#include "models/norm_jobs.h"
#include "models/norm_kernels.h"
#include "models/norm_statistics_cuda.h"

namespace slipstream {
namespace {

using at::MemoryFormat;
using at::Tensor;

constexpr int64_t kMostRows = std::numeric_limits<int32_t>::max();

bool has_kernels(at::ScalarType type) {
  return type == at::kFloat || type == at::kHalf || type == at::kBFloat16;
}

Tensor like(const Tensor& x) { return at::empty(x.sizes(), x.options(), MemoryFormat::ChannelsLast); }

/// A branch's tensors for as long as jobs that point to them are queued. Memory that is freed after that is
/// given again on the same stream only.
struct Input {
  Tensor x;
  Tensor statistics;  // [2, C]: means and inverse deviations, or what stands for them
  NormedTensor normed;

  Input() = default;
  /// `statistics`: of a training pass, or undefined.
  Input(const Branch& branch, Tensor batch_statistics) : statistics(std::move(batch_statistics)) {
    if (!branch.x.defined()) return;
    x = dense(branch.x);
    normed.x = x.const_data_ptr();
    if (branch.norm == nullptr) return;
    normed.weight = branch.norm->weight.const_data_ptr<float>();
    normed.bias = branch.norm->bias.const_data_ptr<float>();
    if (!statistics.defined()) return;
    normed.mean = statistics.const_data_ptr<float>();
    normed.invstd = normed.mean + x.size(1);
  }
};

bool fits(const Branch& branch, const Tensor& main) {
  if (!branch.x.defined()) return true;
  const bool same = branch.x.sizes() == main.sizes() && branch.x.scalar_type() == main.scalar_type() &&
                    branch.x.device() == main.device();
  const bool float_norm = branch.norm == nullptr || (branch.norm->weight.scalar_type() == at::kFloat &&
                                                     branch.norm->running_mean.scalar_type() == at::kFloat);
  return same && float_norm;
}

cudaStream_t stream() { return c10::cuda::getCurrentCUDAStream().stream(); }

/// The branch with the statistics of its batch, which are made here.
Input with_statistics(const Branch& branch) {
  if (branch.norm == nullptr) return {branch, {}};
  const Input input(branch, floats(branch.x, {2, branch.x.size(1)}));
  queue_statistics(input.x, branch.sums, *branch.norm, input.statistics);
  return input;
}

/// The gradients of a layer's norms' parameters, and dz where the job asks for it.
struct Reduced {
  Tensor dz, bias, weight, other_bias, other_weight;
};

/// `dy`: of x's sizes. `matrix` and `x`: what the sums go over.
Reduced reduce(BackwardReduceJob job, const ReaderGradients& dy, const Tensor& x, const Tensor& arrivals,
               bool keep_dz) {
  const Tensor first = dense(dy[0]);
  const Tensor second = dy[1].defined() ? dense(dy[1]) : Tensor();
  const int64_t channels = x.size(1);
  Reduced reduced{.bias = floats(x, {channels}), .weight = floats(x, {channels})};
  reduced.dz = keep_dz ? like(x) : first;
  job.matrix = matrix_of(x);
  const Tensor partials = floats(x, {backward_reduce_floats(job.matrix)});
  job.dy[0] = first.const_data_ptr();
  job.dy[1] = second.defined() ? second.const_data_ptr() : nullptr;
  job.dz = keep_dz ? reduced.dz.data_ptr() : nullptr;
  job.dbias = reduced.bias.data_ptr<float>();
  job.dweight = reduced.weight.data_ptr<float>();
  if (job.other.x != nullptr) {
    reduced.other_bias = floats(x, {channels});
    reduced.other_weight = floats(x, {channels});
    job.other_dbias = reduced.other_bias.data_ptr<float>();
    job.other_dweight = reduced.other_weight.data_ptr<float>();
  }
  job.workspace = {partials.data_ptr<float>(), arrivals.data_ptr<int>()};
  C10_CUDA_CHECK(launch_backward_reduce(job, stream()));
  return reduced;
}

class CudaNormKernels : public NormKernels {
 public:
  bool take(const Branch& main, const Branch& around) const override {
    return main.x.dim() == 4 && main.x.numel() > 0 && main.x.numel() / main.x.size(1) <= kMostRows &&
           has_kernels(main.x.scalar_type()) && main.x.is_contiguous(MemoryFormat::ChannelsLast) &&
           fits(main, main.x) && fits(around, main.x);
  }

  Tensor evaluate(const Branch& main, const Branch& around) const override {
    const c10::cuda::CUDAGuard device(main.x.device());
    Input input(main, {});
    Input other(around, {});
    for (const auto& [branch, made] : {std::pair(&main, &input), std::pair(&around, &other)}) {
      if (branch->norm == nullptr) continue;
      made->normed.mean = branch->norm->running_mean.const_data_ptr<float>();
      made->normed.invstd = branch->norm->running_var.const_data_ptr<float>();
    }
    Tensor y = like(input.x);
    const ApplyJob job{.matrix = matrix_of(input.x),
                       .main = input.normed,
                       .around = other.normed,
                       .y = y.data_ptr(),
                       .invstd_is_variance = true,
                       .epsilon = static_cast<float>(kNormEpsilon)};
    C10_CUDA_CHECK(launch_apply(job, stream()));
    return y;
  }

  // Saves the statistics of both branches and the ReLU's mask; without a second branch neither of its own.
  NormOutput add_relu(const Branch& main, const Branch& around) const override {
    const c10::cuda::CUDAGuard device(main.x.device());
    const Input input = with_statistics(main);
    const Input other = with_statistics(around);
    ApplyJob job{.matrix = matrix_of(input.x), .main = input.normed, .around = other.normed};
    Tensor y = like(input.x);
    job.y = y.data_ptr();
    std::vector<Tensor> saved = {input.statistics};
    if (around.x.defined()) {
      const Tensor mask =
          at::empty({input.x.numel() / job.matrix.vector()}, input.x.options().dtype(at::kByte));
      job.mask = mask.data_ptr<uint8_t>();
      saved.insert(saved.end(), {mask, other.statistics});
    }
    C10_CUDA_CHECK(launch_apply(job, stream()));
    return {y, saved};
  }

  std::array<BranchGradients, 2> add_relu_backward(const ReaderGradients& dy, const Branch& main,
                                                   const Branch& around,
                                                   const std::vector<Tensor>& saved) const override {
    const c10::cuda::CUDAGuard device(main.x.device());
    const bool has_around = around.x.defined();
    const Input input(main, saved[0]);
    // A summand without a norm takes its gradient and is not read again.
    const Input other = around.norm != nullptr ? Input(around, saved[2]) : Input();
    const Reduced reduced = reduce({.passed = has_around ? Passed::kByMask : Passed::kByInput,
                                    .mask = has_around ? saved[1].const_data_ptr<uint8_t>() : nullptr,
                                    .main = input.normed,
                                    .other = other.normed},
                                   dy, input.x, main.norm->arrivals, /*keep_dz=*/has_around);
    std::array<BranchGradients, 2> gradients = {BranchGradients{like(input.x), reduced.weight, reduced.bias}};
    if (around.norm != nullptr) {
      gradients[1] = {like(input.x), reduced.other_weight, reduced.other_bias};
    } else if (has_around) {
      gradients[1].x = reduced.dz;
    }
    const BackwardApplyJob job{
        .matrix = matrix_of(input.x),
        .dz_is_dy = !has_around,
        .dz = reduced.dz.const_data_ptr(),
        .main = input.normed,
        .other = other.normed,
        .dbias = reduced.bias.const_data_ptr<float>(),
        .dweight = reduced.weight.const_data_ptr<float>(),
        .other_dweight = around.norm != nullptr ? reduced.other_weight.const_data_ptr<float>() : nullptr,
        .dx = gradients[0].x.data_ptr(),
        .other_dx = around.norm != nullptr ? gradients[1].x.data_ptr() : nullptr};
    C10_CUDA_CHECK(launch_backward_apply(job, stream()));
    return gradients;
  }

  // Saves the statistics, each window's winner and its x: with these the backward pass's sums go over a
  // quarter of the input, and the input itself is read once.
  NormOutput relu_max_pool(const Branch& main) const override {
    const c10::cuda::CUDAGuard device(main.x.device());
    const Input input = with_statistics(main);
    const PoolSizes sizes = pool_sizes(input.x);
    const Tensor y =
        at::empty({input.x.size(0), input.x.size(1), sizes.pooled_height(), sizes.pooled_width()},
                  input.x.options(), MemoryFormat::ChannelsLast);
    const Tensor winners = like(y);
    const Tensor codes = at::empty(y.sizes(), y.options().dtype(at::kByte), MemoryFormat::ChannelsLast);
    const PoolJob job{.matrix = matrix_of(input.x),
                      .sizes = sizes,
                      .main = input.normed,
                      .y = y.data_ptr(),
                      .codes = codes.data_ptr<uint8_t>(),
                      .winners = winners.data_ptr()};
    C10_CUDA_CHECK(launch_pool(job, stream()));
    return {y, {input.statistics, codes, winners}};
  }

  BranchGradients relu_max_pool_backward(const ReaderGradients& dy, const Branch& main,
                                         const std::vector<Tensor>& saved) const override {
    const c10::cuda::CUDAGuard device(main.x.device());
    const Input input(main, saved[0]);
    const Tensor& winners = saved[2];
    NormedTensor pooled = input.normed;
    pooled.x = winners.const_data_ptr();
    const Reduced reduced =
        reduce({.passed = Passed::kByWinner, .mask = saved[1].const_data_ptr<uint8_t>(), .main = pooled}, dy,
               winners, main.norm->arrivals, /*keep_dz=*/dy[1].defined());
    const Tensor dx = like(input.x);
    const PoolBackwardJob job{.matrix = matrix_of(input.x),
                              .sizes = pool_sizes(input.x),
                              .dy = reduced.dz.const_data_ptr(),
                              .codes = saved[1].const_data_ptr<uint8_t>(),
                              .main = input.normed,
                              .dbias = reduced.bias.const_data_ptr<float>(),
                              .dweight = reduced.weight.const_data_ptr<float>(),
                              .dx = dx.data_ptr()};
    C10_CUDA_CHECK(launch_pool_backward(job, stream()));
    return {dx, reduced.weight, reduced.bias};
  }

 private:
  static PoolSizes pool_sizes(const Tensor& x) {
    return {static_cast<int>(x.size(0)), static_cast<int>(x.size(2)), static_cast<int>(x.size(3))};
  }
};

}  // namespace

const NormKernels* cuda_norm_kernels() {
  static const CudaNormKernels kernels;
  return &kernels;
}

}  // namespace slipstream
