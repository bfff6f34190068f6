#include "models/stem.h"

#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/zeros.h>

#include "models/stem_cuda.h"

namespace slipstream {
namespace {

using at::Tensor;

constexpr int64_t kStep = 2;
constexpr int64_t kPadding = 3;
constexpr int64_t kImageChannels = 3;
constexpr int64_t kPaddedChannels = 4;

// Folded: squares of kStep by kStep pixels.
constexpr int64_t kFoldedChannels = 16;  // 12, and zeros
constexpr int64_t kFoldedKernel = 4;     // (7 + 1) / 2, with a row and a column of zeros before the first
constexpr int64_t kSquaresBefore = 2;    // of padding: (3 + 1) / 2
constexpr int64_t kSquaresAfter = 1;

// The part of folded images that images are written to, as squares: [N, rows, columns, 2, 2 * 3].
Tensor inside(const Tensor& folded, int64_t rows, int64_t columns) {
  return folded.permute({0, 2, 3, 1})
      .narrow(1, kSquaresBefore, rows)
      .narrow(2, kSquaresBefore, columns)
      .narrow(3, 0, kStep * kStep * kImageChannels)
      .unflatten(3, {kStep, kStep * kImageChannels});
}

Tensor squares(const Tensor& images, int64_t rows, int64_t columns) {
  return images.permute({0, 2, 3, 1})
      .reshape({images.size(0), rows, kStep, columns, kStep * kImageChannels})
      .permute({0, 1, 3, 2, 4});
}

Tensor pad_channels(const Tensor& weight) {
  return at::constant_pad_nd(weight, {0, 0, 0, 0, 0, kPaddedChannels - kImageChannels}, 0);
}

// [K, 3, 7, 7] -> [K, 16, 4, 4], channels_last.
Tensor fold_weight(const Tensor& weight) {
  const int64_t outputs = weight.size(0);
  const Tensor even = at::constant_pad_nd(weight, {1, 0, 1, 0}, 0);
  const Tensor folded = even.reshape({outputs, kImageChannels, kFoldedKernel, kStep, kFoldedKernel, kStep})
                            .permute({0, 2, 4, 3, 5, 1})
                            .reshape({outputs, kFoldedKernel, kFoldedKernel, kStep * kStep * kImageChannels});
  return at::constant_pad_nd(folded, {0, kFoldedChannels - folded.size(3)}, 0).permute({0, 3, 1, 2});
}

}  // namespace

StemForm stem_form(const Tensor& images) {
  const bool fits = images.is_cuda() && images.dim() == 4 && images.size(1) == kImageChannels &&
                    images.size(2) % kStep == 0 && images.size(3) % kStep == 0 &&
                    images.is_contiguous(at::MemoryFormat::ChannelsLast);
  if (fits && images.scalar_type() == at::kHalf) return StemForm::kPadded;
  return fits && images.scalar_type() == at::kBFloat16 ? StemForm::kFolded : StemForm::kPlain;
}

StemForm stem_form_of(int64_t channels) {
  if (channels == kPaddedChannels) return StemForm::kPadded;
  return channels == kFoldedChannels ? StemForm::kFolded : StemForm::kPlain;
}

std::vector<int64_t> formed_sizes(at::IntArrayRef image_sizes, StemForm form) {
  std::vector<int64_t> sizes = image_sizes.vec();
  if (form == StemForm::kPadded) sizes[1] = kPaddedChannels;
  if (form == StemForm::kFolded) {
    sizes[1] = kFoldedChannels;
    for (const size_t side : {2, 3}) sizes[side] = sizes[side] / kStep + kSquaresBefore + kSquaresAfter;
  }
  return sizes;
}

void form_images(const Tensor& images, const Tensor& formed) {
  const StemForm form = stem_form_of(formed.size(1));
  if (form_by_kernel(images, formed, form)) return;
  if (form == StemForm::kFolded) {
    const int64_t rows = images.size(2) / kStep;
    const int64_t columns = images.size(3) / kStep;
    inside(formed, rows, columns).copy_(squares(images, rows, columns), /*non_blocking=*/true);
  } else {
    formed.narrow(1, 0, images.size(1)).copy_(images, /*non_blocking=*/true);
  }
}

Tensor form_images(const Tensor& images, StemForm form) {
  if (form == StemForm::kPlain) return images;
  const std::vector<int64_t> sizes = formed_sizes(images.sizes(), form);
  Tensor formed = at::zeros({sizes[0], sizes[2], sizes[3], sizes[1]}, images.options()).permute({0, 3, 1, 2});
  form_images(images, formed);
  return formed;
}

Convolved convolve_stem(const Tensor& formed, const Tensor& weight, ConvUse use) {
  switch (stem_form_of(formed.size(1))) {
    case StemForm::kPadded:
      return convolve(formed, pad_channels(weight), kStep, kPadding, use);
    case StemForm::kFolded:
      return convolve(formed, fold_weight(weight), /*stride=*/1, /*padding=*/0, use);
    case StemForm::kPlain:
      break;
  }
  return convolve(formed, weight, kStep, kPadding, use);
}

}  // namespace slipstream
