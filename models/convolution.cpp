#include "models/convolution.h"

#include <ATen/ops/conv2d.h>
#include <torch/csrc/autograd/custom_function.h>

#include "models/conv_kernels.h"
#include "models/plain_tensors.h"

namespace slipstream {
namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct Convolution : torch::autograd::Function<Convolution> {
  static variable_list forward(AutogradContext* context, const Tensor& x, const Tensor& weight,
                               ConvKernels& kernels, int64_t stride, int64_t padding, bool with_sums) {
    const PlainTensors plain;
    context->save_for_backward({x, weight});
    context->set_materialize_grads(false);  // else sums get gradients, of zeros
    context->saved_data["kernels"] = reinterpret_cast<int64_t>(&kernels);
    context->saved_data["stride"] = stride;
    context->saved_data["padding"] = padding;
    const auto [y, sums] = kernels.forward({x, weight, stride, padding}, with_sums);
    if (!sums.defined()) return {y};
    context->mark_non_differentiable({sums});
    return {y, sums};
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    variable_list result(6);
    if (!gradients[0].defined()) return result;
    const PlainTensors plain;
    const variable_list saved = context->get_saved_variables();
    auto* const kernels = reinterpret_cast<ConvKernels*>(context->saved_data["kernels"].toInt());
    const ConvInput input{saved[0], saved[1], context->saved_data["stride"].toInt(),
                          context->saved_data["padding"].toInt()};
    const Tensor dy = gradients[0].contiguous(at::MemoryFormat::ChannelsLast);
    if (context->needs_input_grad(0)) result[0] = kernels->data_gradient(input, dy);
    if (context->needs_input_grad(1)) result[1] = kernels->weight_gradient(input, dy);
    return result;
  }
};

}  // namespace

Convolved convolve(const Tensor& x, const Tensor& weight, int64_t stride, int64_t padding, ConvUse use) {
  ConvKernels* const kernels = use != ConvUse::kEvaluation && x.is_cuda() ? cudnn_conv_kernels() : nullptr;
  if (kernels == nullptr || !kernels->take({x, weight, stride, padding})) {
    return at::conv2d(x, weight, /*bias=*/{}, stride, padding);
  }
  const variable_list made =
      Convolution::apply(x, weight, *kernels, stride, padding, use == ConvUse::kTrainingOfFusedNorm);
  return {made[0], made.size() > 1 ? made[1] : Tensor()};
}

}  // namespace slipstream
