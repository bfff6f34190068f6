#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Stream.h>

#include <array>

namespace slipstream {

/// ImageNet's channel means and deviations, of values in 0 to 1, as torchvision's references use them.
inline constexpr std::array<float, 3> kMean = {0.485F, 0.456F, 0.406F};
inline constexpr std::array<float, 3> kDeviation = {0.229F, 0.224F, 0.225F};

/// images[n,c,y,x] = (pixels[n,y,x',c] / 255 - mean[c]) / deviation[c], x' mirrored where flips[n] is 1.
///
/// pixels: uint8 [N,S,S,3]; flips: uint8 [N]; images: [N,3,S,S] in float32, float16 or bfloat16, of any
/// strides. All on one device; on CUDA the work is queued on `stream` and the caller keeps the tensors alive.
void normalise(c10::Stream stream, const at::Tensor& pixels, const at::Tensor& flips,
               const at::Tensor& images);

/// The variants that `normalise` chooses from by device.
void normalise_cpu(const at::Tensor& pixels, const at::Tensor& flips, const at::Tensor& images);
void normalise_cuda(c10::Stream stream, const at::Tensor& pixels, const at::Tensor& flips,
                    const at::Tensor& images);

}  // namespace slipstream
