#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <vector>

#include "models/batch_norm.h"

namespace slipstream {

/// A summand under a layer's ReLU: norm(x), or x itself where norm is null. An undefined x: no summand.
struct Branch {
  at::Tensor x;
  const BatchNorm* norm = nullptr;
  at::Tensor sums;  ///< those of Convolved, if known; ATen's variant has no use for them
};

/// The gradients of a branch; those of a norm's parameters undefined where it has none.
struct BranchGradients {
  at::Tensor x, weight, bias;
};

/// What a layer's training pass gives: its output, and what its backward pass needs beside its inputs.
struct NormOutput {
  at::Tensor y;
  std::vector<at::Tensor> saved;
};

/// The gradients of the two readers of a layer's output; the second may be undefined.
using ReaderGradients = std::array<at::Tensor, 2>;

/// The arithmetic of the fused layers, without autograd: a variant a device. Functions of training use the
/// batch's statistics and move the norms' running ones; a backward function gets its forward's inputs and
/// `saved`. Queued on the current stream of x's device; nothing waits.
class NormKernels {
 public:
  virtual ~NormKernels() = default;

  /// Whether this variant has kernels for such inputs.
  virtual bool take(const Branch& main, const Branch& around) const = 0;

  /// relu(main + around), by the running statistics.
  virtual at::Tensor evaluate(const Branch& main, const Branch& around) const = 0;

  /// relu(main + around).
  virtual NormOutput add_relu(const Branch& main, const Branch& around) const = 0;
  virtual std::array<BranchGradients, 2> add_relu_backward(const ReaderGradients& dy, const Branch& main,
                                                           const Branch& around,
                                                           const std::vector<at::Tensor>& saved) const = 0;

  /// The maxima of relu(main)'s 3x3 windows in steps of 2, padded by 1. A window's gradient goes to the first
  /// of its largest inputs in row-major order.
  virtual NormOutput relu_max_pool(const Branch& main) const = 0;
  virtual BranchGradients relu_max_pool_backward(const ReaderGradients& dy, const Branch& main,
                                                 const std::vector<at::Tensor>& saved) const = 0;
};

/// ATen's operators. For any type and layout.
const NormKernels* cpu_norm_kernels();

/// Kernels of our own, for channels_last float32, float16 and bfloat16 with float32 norms; null in a build
/// without CUDA. Results don't depend on anything but the inputs and the GPU's model.
const NormKernels* cuda_norm_kernels();

}  // namespace slipstream
