#include "pipeline/loss_scale.h"

#include <ATen/ops/_amp_foreach_non_finite_check_and_unscale.h>
#include <ATen/ops/_amp_update_scale.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>

namespace slipstream {
namespace {
constexpr double kInitialScale = 65536;
constexpr double kGrowth = 2;
constexpr double kBackoff = 0.5;
constexpr int64_t kGrowthInterval = 2000;
}  // namespace

LossScale::LossScale(bool enabled, c10::Device device)
    : enabled_(enabled),
      scale_(at::full({1}, enabled ? kInitialScale : 1.0, at::TensorOptions(at::kFloat).device(device))),
      good_steps_(at::zeros({1}, at::TensorOptions(at::kInt).device(device))),
      found_inf_(at::zeros({1}, at::TensorOptions(at::kFloat).device(device))) {}

at::Tensor LossScale::scaled(const at::Tensor& loss) const { return enabled_ ? loss.mul(scale_[0]) : loss; }

at::Tensor LossScale::unscale(const std::vector<at::Tensor>& gradients) {
  if (!enabled_) return {};
  found_inf_.zero_();
  at::_amp_foreach_non_finite_check_and_unscale_(gradients, found_inf_, scale_.reciprocal());
  return found_inf_;
}

void LossScale::update() {
  if (enabled_) at::_amp_update_scale_(scale_, good_steps_, found_inf_, kGrowth, kBackoff, kGrowthInterval);
}

}  // namespace slipstream
