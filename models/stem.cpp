#include "models/stem.h"

#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/zeros.h>

namespace slipstream {
namespace {

using at::Tensor;

constexpr int64_t kSquare = 2;  // of pixels, by side, that become one: the convolution's step
constexpr int64_t kImageChannels = 3;
constexpr int64_t kChannels = 16;  // 12, and zeros
constexpr int64_t kSide = 4;       // of the folded kernel: (7 + 1) / 2
constexpr int64_t kPaddedBefore =
    2;  // the convolution pads by 3; a kernel with a row of zeros before it, by 4
constexpr int64_t kPaddedAfter = 1;  // what its last position reads beyond the last square

}  // namespace

bool folds_stem(const Tensor& images) {
  return images.is_cuda() && (images.scalar_type() == at::kHalf || images.scalar_type() == at::kBFloat16) &&
         images.dim() == 4 && images.size(1) == kImageChannels && images.size(2) % kSquare == 0 &&
         images.size(3) % kSquare == 0 && images.is_contiguous(at::MemoryFormat::ChannelsLast);
}

std::vector<int64_t> folded_sizes(at::IntArrayRef image_sizes) {
  const auto side = [](int64_t pixels) { return pixels / kSquare + kPaddedBefore + kPaddedAfter; };
  return {image_sizes[0], kChannels, side(image_sizes[2]), side(image_sizes[3])};
}

void fold_images(const Tensor& images, const Tensor& folded) {
  const int64_t rows = images.size(2) / kSquare;
  const int64_t columns = images.size(3) / kSquare;
  constexpr int64_t kRun = kSquare * kImageChannels;  // values beside each other in both
  const Tensor squares = images.permute({0, 2, 3, 1})
                             .reshape({images.size(0), rows, kSquare, columns, kRun})
                             .permute({0, 1, 3, 2, 4});
  folded.permute({0, 2, 3, 1})
      .narrow(1, kPaddedBefore, rows)
      .narrow(2, kPaddedBefore, columns)
      .narrow(3, 0, kSquare * kRun)
      .unflatten(3, {kSquare, kRun})
      .copy_(squares, /*non_blocking=*/true);
}

Tensor fold_images(const Tensor& images) {
  const std::vector<int64_t> sizes = folded_sizes(images.sizes());
  const Tensor folded =
      at::zeros({sizes[0], sizes[2], sizes[3], sizes[1]}, images.options()).permute({0, 3, 1, 2});
  fold_images(images, folded);
  return folded;
}

Tensor fold_stem_weight(const Tensor& weight) {
  const int64_t outputs = weight.size(0);
  const Tensor even = at::constant_pad_nd(weight, {1, 0, 1, 0}, 0);  // 8x8: a row and a column of zeros first
  const Tensor squares = even.reshape({outputs, kImageChannels, kSide, kSquare, kSide, kSquare})
                             .permute({0, 2, 4, 3, 5, 1})
                             .reshape({outputs, kSide, kSide, kSquare * kSquare * kImageChannels});
  return at::constant_pad_nd(squares, {0, kChannels - squares.size(3)}, 0).permute({0, 3, 1, 2});
}

}  // namespace slipstream
