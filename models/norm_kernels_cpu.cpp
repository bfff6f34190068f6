#include <ATen/ops/add.h>
#include <ATen/ops/batch_norm.h>
#include <ATen/ops/max_pool2d_with_indices.h>
#include <ATen/ops/max_pool2d_with_indices_backward.h>
#include <ATen/ops/native_batch_norm.h>
#include <ATen/ops/native_batch_norm_backward.h>
#include <ATen/ops/threshold_backward.h>

#include "models/norm_kernels.h"

namespace slipstream {
namespace {

using at::Tensor;

/// A training norm's output, then the mean and inverse deviation of each channel.
std::tuple<Tensor, Tensor, Tensor> normalise(const Branch& branch) {
  const BatchNorm& norm = *branch.norm;
  return at::native_batch_norm(branch.x, norm.weight, norm.bias, norm.running_mean, norm.running_var,
                               /*training=*/true, kNormMomentum, kNormEpsilon);
}

BranchGradients normalise_backward(const Tensor& dy, const Branch& branch, const Tensor& mean,
                                   const Tensor& invstd) {
  auto [x, weight, bias] =
      at::native_batch_norm_backward(dy, branch.x, branch.norm->weight, {}, {}, mean, invstd, /*train=*/true,
                                     kNormEpsilon, {true, true, true});
  return {x, weight, bias};
}

Tensor evaluate_branch(const Branch& branch) {
  if (branch.norm == nullptr) return branch.x;
  const BatchNorm& norm = *branch.norm;
  return at::batch_norm(branch.x, norm.weight, norm.bias, norm.running_mean, norm.running_var,
                        /*training=*/false, kNormMomentum, kNormEpsilon, /*cudnn_enabled=*/false);
}

/// The readers' gradients, added, where the layer's output is above 0.
Tensor through_relu(const ReaderGradients& dy, const Tensor& y) {
  if (!dy[1].defined()) return at::threshold_backward(dy[0], y, 0);
  Tensor sum = at::add(dy[0], dy[1]);
  return at::threshold_backward_out(sum, sum, y, 0);
}

class CpuNormKernels : public NormKernels {
 public:
  bool take(const Branch& /*main*/, const Branch& /*around*/) const override { return true; }

  Tensor evaluate(const Branch& main, const Branch& around) const override {
    Tensor y = evaluate_branch(main);
    if (around.x.defined()) y.add_(evaluate_branch(around));
    return y.relu_();
  }

  // Saves the output, for the ReLU's mask, and each norm's mean and inverse deviation.
  NormOutput add_relu(const Branch& main, const Branch& around) const override {
    auto [y, mean, invstd] = normalise(main);
    std::vector<Tensor> saved = {y, mean, invstd};
    if (around.norm != nullptr) {
      auto [other, other_mean, other_invstd] = normalise(around);
      y.add_(other);
      saved.insert(saved.end(), {other_mean, other_invstd});
    } else if (around.x.defined()) {
      y.add_(around.x);
    }
    y.relu_();
    return {y, saved};
  }

  std::array<BranchGradients, 2> add_relu_backward(const ReaderGradients& dy, const Branch& main,
                                                   const Branch& around,
                                                   const std::vector<Tensor>& saved) const override {
    const Tensor dz = through_relu(dy, saved[0]);
    std::array<BranchGradients, 2> gradients = {normalise_backward(dz, main, saved[1], saved[2])};
    if (around.norm != nullptr) {
      gradients[1] = normalise_backward(dz, around, saved[3], saved[4]);
    } else if (around.x.defined()) {
      gradients[1].x = dz;
    }
    return gradients;
  }

  // The ReLU comes after the pooling, on a quarter of the values: it changes no order, and where it makes a
  // tie, of values below 0, the gradient is 0 either way.
  NormOutput relu_max_pool(const Branch& main) const override {
    auto [normalised, mean, invstd] = normalise(main);
    auto [y, indices] = at::max_pool2d_with_indices(normalised, kWindow, kStride, kPadding);
    y.relu_();
    return {y, {y, indices, mean, invstd}};
  }

  BranchGradients relu_max_pool_backward(const ReaderGradients& dy, const Branch& main,
                                         const std::vector<Tensor>& saved) const override {
    const Tensor dz =
        at::max_pool2d_with_indices_backward(through_relu(dy, saved[0]), main.x, kWindow, kStride, kPadding,
                                             /*dilation=*/1, /*ceil_mode=*/false, saved[1]);
    return normalise_backward(dz, main, saved[2], saved[3]);
  }

 private:
  static constexpr int64_t kWindow = 3;
  static constexpr int64_t kStride = 2;
  static constexpr int64_t kPadding = 1;
};

}  // namespace

const NormKernels* cpu_norm_kernels() {
  static const CpuNormKernels kernels;
  return &kernels;
}

}  // namespace slipstream
