#pragma once

#include <ATen/core/Tensor.h>

namespace slipstream {

/// A batch's loss and how many of it were right at first guess.
struct CrossEntropy {
  at::Tensor loss;   ///< float32 []: the mean over labelled samples, differentiable
  at::Tensor right;  ///< float32 []
};

/// The softmax cross entropy, once differentiable, of logits [N, K] with labels int64 [N], smoothed as
/// LibTorch's cross_entropy_loss does: a share `smoothing` of each target is spread over all K. Samples
/// labelled kIgnoredLabel don't count; without any other, loss is not a number. Of equal logits the first is
/// the guess. Computed in float32, queued on the current stream; on a GPU in one pass each way by kernels of
/// our own, for any floating type of 32 bits at most; on the CPU by LibTorch's operators.
CrossEntropy cross_entropy(const at::Tensor& logits, const at::Tensor& labels, double smoothing);

/// The label of a sample whose file was skipped: LibTorch's cross entropy ignores it.
inline constexpr int64_t kIgnoredLabel = -100;

}  // namespace slipstream
