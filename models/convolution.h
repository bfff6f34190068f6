#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <utility>

namespace slipstream {

/// A convolution's output for a norm: an ordinary tensor, which may come with the sums that a norm needs.
struct Convolved {
  Convolved(at::Tensor output, at::Tensor output_sums = {})
      : y(std::move(output)), sums(std::move(output_sums)) {}

  at::Tensor y;
  at::Tensor sums;  ///< float32 [parts, 2, C]: of parts of y by channel, and of its squares; may be undefined
};

/// What a convolution is computed for.
enum class ConvUse { kEvaluation, kTraining, kTrainingOfFusedNorm };

/// The convolution of x [N, C, H, W] with weight [K, C, k, k], without bias; once differentiable, queued on
/// the current stream. For training, cuDNN's kernels as our own choice has them (models/conv_kernels.h),
/// where they take the tensors; else, and for evaluation, at::conv2d. Sums are made for a fused norm where a
/// kernel makes them in passing and that takes less time than the norm's own pass.
Convolved convolve(const at::Tensor& x, const at::Tensor& weight, int64_t stride, int64_t padding,
                   ConvUse use);

}  // namespace slipstream
