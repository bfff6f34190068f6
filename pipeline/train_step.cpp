#include "pipeline/train_step.h"

#include <ATen/autocast_mode.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_fused_sgd.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <fmt/format.h>

#include <algorithm>

#include "data/error.h"
#include "models/weights.h"

namespace slipstream {

AutocastScope::AutocastScope(c10::Device device, c10::ScalarType type)
    : device_(device.type()), enabled_(type != c10::kFloat) {
  if (!enabled_) return;
  at::autocast::set_autocast_enabled(device_, true);
  at::autocast::set_autocast_dtype(device_, type);
}

AutocastScope::~AutocastScope() {
  if (!enabled_) return;
  at::autocast::set_autocast_enabled(device_, false);
  at::autocast::clear_cache();  // the casts of weights that the optimizer is about to change
}

TrainStep::TrainStep(ResNet& model, const TrainSetup& setup)
    : model_(model),
      options_(setup.options),
      device_(setup.device),
      type_(setup.compute_type()),
      loss_scale_(setup.options.amp == Amp::kFp16, setup.device) {
  const at::NoGradGuard no_grad;
  for (const auto& [name, parameter] : model.parameters()) {
    names_.push_back(name);
    parameters_.push_back(parameter);
    momenta_.push_back(at::zeros_like(parameter));  // keeps the parameter's strides
  }
}

// Returns the loss, unscaled and differentiable.
at::Tensor TrainStep::forward(const at::Tensor& images, const at::Tensor& labels, at::Tensor& logits) {
  const AutocastScope autocast(device_, type_);
  logits = model_.forward(images, ResNet::Phase::kTraining);
  return at::cross_entropy_loss(logits.to(at::kFloat), labels, {}, at::Reduction::Mean, kIgnoredLabel,
                                options_.label_smoothing);
}

void TrainStep::warm_up(at::IntArrayRef image_sizes) {
  StateDict before;
  for (const auto& [name, tensor] : model_.state_dict()) before.emplace_back(name, tensor.clone());
  at::Tensor logits;
  const auto layout = options_.channels_last ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Contiguous;
  const at::Tensor images =
      at::zeros(image_sizes, at::TensorOptions(type_).device(device_)).contiguous(layout);
  const at::Tensor labels = at::zeros({image_sizes[0]}, at::TensorOptions(at::kLong).device(device_));
  loss_scale_.scaled(forward(images, labels, logits)).backward();
  load_state_dict(model_, before);
  for (at::Tensor& parameter : parameters_) parameter.mutable_grad().reset();
}

at::Tensor TrainStep::run(const Batch& batch, double lr, StepParts* parts) {
  if (parts != nullptr) parts->begins();
  at::Tensor logits;
  const at::Tensor loss = forward(batch.images, batch.labels, logits);
  if (parts != nullptr) parts->forward_ends();
  loss_scale_.scaled(loss).backward();
  if (parts != nullptr) parts->backward_ends();

  const at::NoGradGuard no_grad;
  std::vector<at::Tensor> gradients;
  gradients.reserve(parameters_.size());
  for (at::Tensor& parameter : parameters_) gradients.push_back(parameter.mutable_grad());
  const at::Tensor overflow = loss_scale_.unscale(gradients);
  at::_fused_sgd_(parameters_, gradients, momenta_, options_.weight_decay, options_.momentum, lr,
                  /*dampening=*/0, /*nesterov=*/false, /*maximize=*/false, /*is_first_step=*/false,
                  /*grad_scale=*/{}, overflow.defined() ? std::optional(overflow) : std::nullopt);
  for (at::Tensor& parameter : parameters_) parameter.mutable_grad().reset();

  const at::Tensor right = logits.argmax(1).eq(batch.labels).sum();
  at::Tensor metrics = at::stack({loss.detach(), right.to(at::kFloat), loss_scale_.scale()[0]});
  loss_scale_.update();
  if (parts != nullptr) parts->optimizer_ends();
  return metrics;
}

StateDict TrainStep::state() const {
  StateDict state;
  for (size_t i = 0; i < names_.size(); ++i) state.emplace_back("momentum." + names_[i], momenta_[i]);
  state.emplace_back("loss_scale", loss_scale_.scale());
  state.emplace_back("loss_scale_good_steps", loss_scale_.good_steps());
  return state;
}

void TrainStep::load_state(const StateDict& loaded) {
  const at::NoGradGuard no_grad;
  const StateDict own = state();
  for (const auto& [name, tensor] : own) {
    const auto found = std::ranges::find(loaded, name, &StateDict::value_type::first);
    if (found == loaded.end() || found->second.sizes() != tensor.sizes()) {
      throw Error(fmt::format("'{}' is missing or of another shape", name));
    }
    tensor.copy_(found->second);
  }
}

}  // namespace slipstream
