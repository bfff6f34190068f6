#pragma once

#include <ATen/core/Tensor.h>

#include "models/convolution.h"

namespace slipstream {

// The first convolution's kernels, on tensors: channels_last float16 or bfloat16 on a GPU. In a build without
// CUDA none is taken. All is queued on the current stream; the same inputs give the same bits.

/// Writes images [N, 3, H, W] into `padded` [N, 4, H, W], with zeros. False, with nothing done, for other
/// tensors.
bool pad_by_kernel(const at::Tensor& images, const at::Tensor& padded);

/// Whether there are kernels for padded images [N, 4, H, W], of even sides, with weight [64, 3, 7, 7].
bool stem_kernels_take(const at::Tensor& padded, const at::Tensor& weight);

/// Has sums. The tensors are such as are taken.
Convolved stem_forward(const at::Tensor& padded, const at::Tensor& weight);

/// The weight's gradient; dy: the output's.
at::Tensor stem_weight_gradient(const at::Tensor& padded, const at::Tensor& weight, const at::Tensor& dy);

}  // namespace slipstream
