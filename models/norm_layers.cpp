#include "models/norm_layers.h"

#include <ATen/Context.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/batch_norm.h>
#include <ATen/ops/max_pool2d.h>
#include <fmt/format.h>

#include "data/error.h"
#include "models/fused_norm.h"

namespace slipstream {
namespace {

using at::Tensor;

void check(const Tensor& x, NormMode mode) {
  if (mode.training && x.numel() == x.size(1)) {
    throw Error(fmt::format(
        "Batch norm can't train on one value a channel: a batch of {} image has come down to {}x{} pixels. "
        "Take a larger --batch-size or --image-size.",
        x.size(0), x.size(2), x.size(3)));
  }
}

/// The kernels to use; null: ATen's layers. In evaluation the fused ones know no gradients.
const NormKernels* kernels_for(const Branch& main, const Branch& around, NormMode mode) {
  check(main.x, mode);
  if (!mode.fused || (!mode.training && at::GradMode::is_enabled())) return nullptr;
  const NormKernels* const kernels = main.x.is_cuda() ? cuda_norm_kernels() : cpu_norm_kernels();
  return kernels != nullptr && kernels->take(main, around) ? kernels : nullptr;
}

Tensor normalise(const Tensor& x, const BatchNorm& norm, NormMode mode) {
  return at::batch_norm(x, norm.weight, norm.bias, norm.running_mean, norm.running_var, mode.training,
                        kNormMomentum, kNormEpsilon, at::globalContext().userEnabledCuDNN());
}

Twice twice(const Tensor& y) { return {y, y}; }

}  // namespace

Tensor norm_relu(const Convolved& x, const BatchNorm& norm, NormMode mode) {
  const Branch main{x.y, &norm, x.sums};
  const NormKernels* const kernels = kernels_for(main, {}, mode);
  if (kernels == nullptr) return normalise(x.y, norm, mode).relu_();
  return mode.training ? fused_norm_relu(*kernels, main) : kernels->evaluate(main, {});
}

Twice norm_relu_max_pool(const Convolved& x, const BatchNorm& norm, NormMode mode) {
  const Branch main{x.y, &norm, x.sums};
  const NormKernels* const kernels = mode.training ? kernels_for(main, {}, mode) : nullptr;
  if (kernels != nullptr) return fused_norm_relu_max_pool(*kernels, main);
  return twice(at::max_pool2d(norm_relu(x, norm, mode), /*kernel_size=*/3, /*stride=*/2, /*padding=*/1));
}

Twice norm_add_relu(const Convolved& x, const BatchNorm& norm, const Tensor& residual, NormMode mode) {
  const Branch main{x.y, &norm, x.sums};
  const Branch around{residual, nullptr};
  const NormKernels* const kernels = kernels_for(main, around, mode);
  if (kernels == nullptr) return twice(normalise(x.y, norm, mode).add_(residual).relu_());
  return mode.training ? fused_norm_add_relu(*kernels, main, around) : twice(kernels->evaluate(main, around));
}

Twice norm_add_norm_relu(const Convolved& x, const BatchNorm& norm, const Convolved& other,
                         const BatchNorm& other_norm, NormMode mode) {
  const Branch main{x.y, &norm, x.sums};
  const Branch around{other.y, &other_norm, other.sums};
  const NormKernels* const kernels = kernels_for(main, around, mode);
  if (kernels == nullptr) {
    return twice(normalise(x.y, norm, mode).add_(normalise(other.y, other_norm, mode)).relu_());
  }
  return mode.training ? fused_norm_add_relu(*kernels, main, around) : twice(kernels->evaluate(main, around));
}

}  // namespace slipstream
