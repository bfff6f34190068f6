#include "models/average_pool.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/mean.h>
#include <torch/csrc/autograd/custom_function.h>

#include "models/plain_tensors.h"

namespace slipstream {
namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct AveragePool : torch::autograd::Function<AveragePool> {
  static Tensor forward(AutogradContext* context, const Tensor& x) {
    const PlainTensors plain;
    context->saved_data["sizes"] = x.sizes().vec();
    context->saved_data["format"] = static_cast<int64_t>(x.suggest_memory_format());
    return x.mean({2, 3});
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const PlainTensors plain;
    const std::vector<int64_t> sizes = context->saved_data["sizes"].toIntVector();
    const auto format = static_cast<at::MemoryFormat>(context->saved_data["format"].toInt());
    const Tensor share = gradients[0].div(static_cast<double>(sizes[2] * sizes[3]));
    const Tensor dx = at::empty(sizes, share.options(), format);
    dx.copy_(share.unflatten(1, {-1, 1, 1}));
    return {dx};
  }
};

}  // namespace

Tensor average_pool(const Tensor& x) { return AveragePool::apply(x); }

}  // namespace slipstream
