#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace slipstream {

/// Dynamic loss scaling for float16, all on the device (Micikevicius et al., 2018; the constants are those of
/// LibTorch's GradScaler): the scale halves when a gradient overflows, and that step is left out; it doubles
/// after 2000 good steps. Switched off it is 1 and does nothing.
class LossScale {
 public:
  LossScale(bool enabled, c10::Device device);

  at::Tensor scaled(const at::Tensor& loss) const;

  /// Divides the gradients by the scale in place; returns float32 [1], not 0 if one was not finite, for the
  /// optimizer to leave the step out. Undefined if switched off.
  at::Tensor unscale(const std::vector<at::Tensor>& gradients);

  /// After the optimizer's step.
  void update();

  bool enabled() const { return enabled_; }

  /// float32 [1]: for whoever unscales by itself to set to 1 if a gradient isn't finite, else to 0.
  const at::Tensor& found_inf() const { return found_inf_; }

  // float32 [1] and int32 [1] on the device: the state to keep.
  const at::Tensor& scale() const { return scale_; }
  const at::Tensor& good_steps() const { return good_steps_; }

 private:
  bool enabled_;
  at::Tensor scale_;
  at::Tensor good_steps_;
  at::Tensor found_inf_;
};

}  // namespace slipstream
