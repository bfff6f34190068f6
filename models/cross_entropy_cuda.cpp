#include "models/cross_entropy_cuda.h"

#include <ATen/ops/empty_like.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/csrc/autograd/custom_function.h>

#include "models/cross_entropy_kernel.h"
#include "models/kernel_tensors.h"
#include "models/plain_tensors.h"

namespace slipstream {
namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

CrossEntropyInput input_of(const Tensor& logits, const Tensor& labels, double smoothing) {
  return {.type = kernel_type(logits.scalar_type()),
          .logits = logits.const_data_ptr(),
          .labels = labels.const_data_ptr<int64_t>(),
          .count = static_cast<int>(logits.size(0)),
          .classes = static_cast<int>(logits.size(1)),
          .smoothing = static_cast<float>(smoothing)};
}

struct Function : torch::autograd::Function<Function> {
  static variable_list forward(AutogradContext* context, const Tensor& given, const Tensor& labels,
                               double smoothing) {
    const PlainTensors plain;
    const c10::cuda::CUDAGuard device(given.device());
    const Tensor logits = given.contiguous();
    const Tensor rows = floats(logits, {3, logits.size(0)});
    const Tensor totals = floats(logits, {3});
    C10_CUDA_CHECK(launch_cross_entropy(input_of(logits, labels, smoothing),
                                        {.row_losses = rows[0].data_ptr<float>(),
                                         .row_right = rows[1].data_ptr<float>(),
                                         .row_logs = rows[2].data_ptr<float>(),
                                         .totals = totals.data_ptr<float>()},
                                        c10::cuda::getCurrentCUDAStream().stream()));
    context->save_for_backward({logits, labels, rows, totals});
    context->saved_data["smoothing"] = smoothing;
    context->set_materialize_grads(false);
    const Tensor right = totals[1];
    context->mark_non_differentiable({right});
    return {totals[0], right};
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    if (!gradients[0].defined()) return variable_list(3);
    const PlainTensors plain;
    const variable_list saved = context->get_saved_variables();
    const Tensor& logits = saved[0];
    const c10::cuda::CUDAGuard device(logits.device());
    Tensor dlogits = at::empty_like(logits);
    C10_CUDA_CHECK(
        launch_cross_entropy_backward(input_of(logits, saved[1], context->saved_data["smoothing"].toDouble()),
                                      {.row_logs = saved[2][2].const_data_ptr<float>(),
                                       .totals = saved[3].const_data_ptr<float>(),
                                       .dloss = gradients[0].const_data_ptr<float>(),
                                       .dlogits = dlogits.mutable_data_ptr()},
                                      c10::cuda::getCurrentCUDAStream().stream()));
    return {dlogits, {}, {}};
  }
};

}  // namespace

CrossEntropy cross_entropy_by_kernels(const Tensor& logits, const Tensor& labels, double smoothing) {
  const variable_list made = Function::apply(logits, labels, smoothing);
  return {made[0], made[1]};
}

}  // namespace slipstream
