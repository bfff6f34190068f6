#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "models/convolution.h"

namespace slipstream {

/// How training's first convolution, 7x7 in steps of 2 over 3 channels, takes its images. A pixel's 6 bytes
/// suit no tensor core; each other form sums the same products, and some with zeros.
enum class StemForm {
  kPlain,
  kPadded,  ///< a fourth channel, of zeros: [N, 4, H, W]; cuDNN has kernels for this, in float16
  /// A pixel holds a square of 2x2 of the image's (space-to-depth), and 4 zeros, with the convolution's
  /// padding around: [N, 16, H / 2 + 3, W / 2 + 3]. The convolution is then 4x4 in steps of 1.
  kFolded,
};

/// The quickest form for images [N, 3, H, W]: kPlain but for half precision, channels_last and even sides on
/// a GPU, where it depends on the type (docs/performance.md has the times).
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
/// weight.
Convolved convolve_stem(const at::Tensor& formed, const at::Tensor& weight, ConvUse use);

}  // namespace slipstream
