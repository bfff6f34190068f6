#include "models/fused_norm.h"

#include <torch/csrc/autograd/custom_function.h>

#include <optional>

#include "models/plain_tensors.h"

namespace slipstream {
namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;
using MaybeTensor = std::optional<Tensor>;

// Each branch of a layer is saved as four tensors, undefined where there is none, and read back alike.
constexpr size_t kSavedPerBranch = 4;

void save(variable_list& list, const Branch& branch) {
  list.push_back(branch.x);
  if (branch.norm != nullptr) {
    list.insert(list.end(), {branch.norm->weight, branch.norm->bias, branch.norm->arrivals});
  } else {
    list.resize(list.size() + kSavedPerBranch - 1);
  }
}

/// A layer's inputs and the variant's own tensors, as saved by its forward pass.
struct Saved {
  std::array<BatchNorm, 2> norms;
  std::array<Branch, 2> branches;
  std::vector<Tensor> own;

  explicit Saved(const variable_list& list) : own(list.begin() + 2 * kSavedPerBranch, list.end()) {
    for (size_t i = 0; i < branches.size(); ++i) {
      const Tensor* const saved = &list[i * kSavedPerBranch];
      norms[i] = {.weight = saved[1], .bias = saved[2], .arrivals = saved[3]};
      branches[i] = {saved[0], saved[1].defined() ? &norms[i] : nullptr};
    }
  }
  ~Saved() = default;
  Saved(const Saved&) = delete;
  Saved& operator=(const Saved&) = delete;
};

/// The output for two readers: two tensors over the same memory, so that autograd keeps their gradients
/// apart.
variable_list for_two_readers(const Tensor& y) { return {y, y.alias()}; }

/// The gradients of a layer's readers, the defined one first; nothing if neither is.
std::optional<ReaderGradients> readers(const variable_list& gradients) {
  const Tensor& first = gradients[0];
  const Tensor second = gradients.size() > 1 ? gradients[1] : Tensor();
  if (first.defined()) return ReaderGradients{first, second};
  if (second.defined()) return ReaderGradients{second, first};
  return std::nullopt;
}

// The tensors that need gradients are arguments of their own, since autograd sees no others; they are those
// of the branches.

struct AddRelu : torch::autograd::Function<AddRelu> {
  static variable_list forward(AutogradContext* context, const Tensor& /*x*/, const Tensor& /*weight*/,
                               const Tensor& /*bias*/, const MaybeTensor& /*around*/,
                               const MaybeTensor& /*around_weight*/, const MaybeTensor& /*around_bias*/,
                               const NormKernels& kernels, const Branch& main, const Branch& around,
                               bool twice) {
    const PlainTensors plain;
    auto [y, own] = kernels.add_relu(main, around);
    variable_list saved;
    save(saved, main);
    save(saved, around);
    saved.insert(saved.end(), own.begin(), own.end());
    context->save_for_backward(std::move(saved));
    context->set_materialize_grads(false);
    context->saved_data["kernels"] = reinterpret_cast<int64_t>(&kernels);
    return twice ? for_two_readers(y) : variable_list{y};
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto dy = readers(gradients);
    variable_list result(10);
    if (!dy) return result;
    const PlainTensors plain;
    const Saved saved(context->get_saved_variables());
    const auto* kernels = reinterpret_cast<const NormKernels*>(context->saved_data["kernels"].toInt());
    const auto branches = kernels->add_relu_backward(*dy, saved.branches[0], saved.branches[1], saved.own);
    for (size_t i = 0; i < branches.size(); ++i) {
      result[3 * i] = branches[i].x;
      result[3 * i + 1] = branches[i].weight;
      result[3 * i + 2] = branches[i].bias;
    }
    return result;
  }
};

struct ReluMaxPool : torch::autograd::Function<ReluMaxPool> {
  static variable_list forward(AutogradContext* context, const Tensor& /*x*/, const Tensor& /*weight*/,
                               const Tensor& /*bias*/, const NormKernels& kernels, const Branch& main) {
    const PlainTensors plain;
    auto [y, own] = kernels.relu_max_pool(main);
    variable_list saved;
    save(saved, main);
    save(saved, {});
    saved.insert(saved.end(), own.begin(), own.end());
    context->save_for_backward(std::move(saved));
    context->set_materialize_grads(false);
    context->saved_data["kernels"] = reinterpret_cast<int64_t>(&kernels);
    return for_two_readers(y);
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto dy = readers(gradients);
    if (!dy) return variable_list(5);
    const PlainTensors plain;
    const Saved saved(context->get_saved_variables());
    const auto* kernels = reinterpret_cast<const NormKernels*>(context->saved_data["kernels"].toInt());
    auto [x, weight, bias] = kernels->relu_max_pool_backward(*dy, saved.branches[0], saved.own);
    return {x, weight, bias, {}, {}};
  }
};

variable_list apply_add_relu(const NormKernels& kernels, const Branch& main, const Branch& around,
                             bool twice) {
  const auto if_defined = [](const Tensor& tensor) {
    return tensor.defined() ? MaybeTensor(tensor) : std::nullopt;
  };
  const BatchNorm none;
  const BatchNorm& around_norm = around.norm != nullptr ? *around.norm : none;
  return AddRelu::apply(main.x, main.norm->weight, main.norm->bias, if_defined(around.x),
                        if_defined(around_norm.weight), if_defined(around_norm.bias), kernels, main, around,
                        twice);
}

}  // namespace

Tensor fused_norm_relu(const NormKernels& kernels, const Branch& main) {
  return apply_add_relu(kernels, main, {}, /*twice=*/false)[0];
}

Twice fused_norm_add_relu(const NormKernels& kernels, const Branch& main, const Branch& around) {
  const variable_list y = apply_add_relu(kernels, main, around, /*twice=*/true);
  return {y[0], y[1]};
}

Twice fused_norm_relu_max_pool(const NormKernels& kernels, const Branch& main) {
  const variable_list y = ReluMaxPool::apply(main.x, main.norm->weight, main.norm->bias, kernels, main);
  return {y[0], y[1]};
}

}  // namespace slipstream
