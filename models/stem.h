#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "models/convolution.h"

namespace slipstream {

/// How training's first convolution, 7x7 in steps of 2 over 3 channels, takes its images. A pixel's 6 bytes
/// suit no tensor core; with a fourth value, 0, the sums are of the same products and of zeros.
enum class StemForm {
  kPlain,   ///< [N, 3, H, W]
  kPadded,  ///< [N, 4, H, W]
};

/// The quickest form for images [N, 3, H, W]: padded for half precision, channels_last and even sides on a
/// GPU, where there are kernels of our own for it (docs/performance.md has the times).
StemForm stem_form(const at::Tensor& images);

/// The form that images of so many channels have.
StemForm stem_form_of(int64_t channels);

/// Sizes of images of a form, made of plain ones.
std::vector<int64_t> formed_sizes(at::IntArrayRef image_sizes, StemForm form);

/// Writes plain `images` into `formed`: of formed_sizes(), channels_last, zero where nothing is written,
/// which stays so. Queued on the current stream.
void form_images(const at::Tensor& images, const at::Tensor& formed);

/// The same into new memory; the images themselves if the form is kPlain.
at::Tensor form_images(const at::Tensor& images, StemForm form);

/// The first convolution for training, of images of any form with weight [K, 3, 7, 7]; differentiable in
/// weight. Has sums where it is done by kernels of our own, which need neither --cudnn-benchmark nor its
/// opposite: the same inputs give the same bits.
Convolved convolve_stem(const at::Tensor& formed, const at::Tensor& weight, ConvUse use);

}  // namespace slipstream
