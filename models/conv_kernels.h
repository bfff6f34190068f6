#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>

#include "models/convolution.h"

namespace slipstream {

/// What a convolution works on. The tensors outlive the call that they are given to.
struct ConvInput {
  const at::Tensor& x;       ///< [N, C, H, W]
  const at::Tensor& weight;  ///< [K, C, k, k]
  int64_t stride, padding;
};

/// The three passes of a convolution, without autograd; LibTorch's where cuDNN turns out to have no kernel.
/// Results are channels_last, of x's type. Queued on the current stream of x's device. The first call with
/// new sizes tries kernels, and waits for the device: make it before anything else is under way, and not
/// while a graph is recorded. One thread at a time.
class ConvKernels {
 public:
  virtual ~ConvKernels() = default;

  /// Whether there are kernels for such tensors, and the process's switches let them be chosen by trying.
  virtual bool take(const ConvInput& input) const = 0;

  /// Has sums if `with_sums` and they pay.
  virtual Convolved forward(const ConvInput& input, bool with_sums) = 0;

  /// The gradients, of the output's: dy is dense and channels_last.
  virtual at::Tensor data_gradient(const ConvInput& input, const at::Tensor& dy) = 0;
  virtual at::Tensor weight_gradient(const ConvInput& input, const at::Tensor& dy) = 0;

  /// How many choices were made by trying, not found in the file.
  virtual int64_t tried() const = 0;
};

/// cuDNN's kernels, for channels_last float16 and bfloat16 where --cudnn-benchmark is on and --deterministic
/// off; null in a build without CUDA. One object a process. Choices are kept in a file of the user's cache,
/// by GPU and version of cuDNN (models/conv_choices.h).
ConvKernels* cudnn_conv_kernels();

/// The same with a file of one's own; empty: choices aren't kept.
std::unique_ptr<ConvKernels> make_cudnn_conv_kernels(const std::string& choices_file);

}  // namespace slipstream
