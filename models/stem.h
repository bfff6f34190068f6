#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace slipstream {

// The network's first convolution, 7x7 in steps of 2 over 3 channels, is one that tensor cores take badly: a
// pixel's channels are 6 bytes. Folded, it is a 4x4 convolution in steps of 1 over 16 channels: each pixel
// holds a square of 2x2 of the image's (space-to-depth), and 4 zeros. The same products are summed, in
// another order; 109 of the 256 products of an output are with zeros.

/// Whether training's first convolution is quicker folded: for images [N, 3, H, W] with even sides, in half
/// precision and channels_last on a GPU (docs/performance.md).
bool folds_stem(const at::Tensor& images);

/// The folded images' sizes: [N, 16, H / 2 + 3, W / 2 + 3], with the convolution's padding in them.
std::vector<int64_t> folded_sizes(at::IntArrayRef image_sizes);

/// Folds `images` [N, 3, H, W] into `folded`, channels_last, of folded_sizes() and their type, whose padding
/// is zeros already and stays so. Queued on the current stream.
void fold_images(const at::Tensor& images, const at::Tensor& folded);

/// The same into new memory.
at::Tensor fold_images(const at::Tensor& images);

/// weight [K, 3, 7, 7] for folded images: [K, 16, 4, 4], channels_last; differentiable.
at::Tensor fold_stem_weight(const at::Tensor& weight);

}  // namespace slipstream
