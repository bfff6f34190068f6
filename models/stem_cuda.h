#pragma once

#include <ATen/core/Tensor.h>

#include "models/stem.h"

namespace slipstream {

/// form_images by a kernel, on the current stream. False, with nothing done, for other tensors than 16-bit
/// ones on a GPU, for plain ones, and in a build without CUDA.
bool form_by_kernel(const at::Tensor& images, const at::Tensor& formed, StemForm form);

}  // namespace slipstream
