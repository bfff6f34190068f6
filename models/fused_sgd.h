#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace slipstream {

/// One parameter on its way through a step, and what belongs to it.
struct SgdTensors {
  at::Tensor parameter;  ///< float32, dense
  at::Tensor momentum;   ///< float32, in the parameter's memory order
  at::Tensor gradient;   ///< float32, or the cast's type
  at::Tensor cast;       ///< gets the new parameter in its type; undefined: there is none
};

/// What is the same for all. Tensors are on the device and are read when the step runs.
struct SgdStep {
  double momentum = 0;
  double weight_decay = 0;
  at::Tensor lr;         ///< float32 []
  at::Tensor scale;      ///< float32 [1], by which gradients are divided; undefined: by none
  at::Tensor found_inf;  ///< float32 [1], with `scale`: set to 1 if a gradient isn't finite, else to 0
};

/// Whether fused_sgd works on such a device.
bool has_fused_sgd(c10::Device device);

/// SGD with momentum as torch.optim.SGD computes it, for all parameters in one launch, with what surrounds
/// it: the loss scale taken out, the new weights' casts written. Nothing changes if a gradient isn't finite
/// and there is a scale; finding out is a launch more. Queued on the current stream; doesn't wait. At most 20
/// bytes a parameter are moved where LibTorch's kernels for the same move 48.
///
/// It writes behind autograd's back: the parameters' version counters stay.
void fused_sgd(const std::vector<SgdTensors>& tensors, const SgdStep& step);

}  // namespace slipstream
