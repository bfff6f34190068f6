#include "models/stem.h"

#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>

#include "models/plain_tensors.h"
#include "models/stem_cuda.h"

namespace slipstream {
namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr int64_t kStep = 2;
constexpr int64_t kPadding = 3;
constexpr int64_t kImageChannels = 3;
constexpr int64_t kPaddedChannels = 4;

Tensor pad_channels(const Tensor& weight) {
  return at::constant_pad_nd(weight, {0, 0, 0, 0, 0, kPaddedChannels - kImageChannels}, 0);
}

struct StemConvolution : torch::autograd::Function<StemConvolution> {
  static variable_list forward(AutogradContext* context, const Tensor& padded, const Tensor& weight) {
    const PlainTensors plain;
    context->save_for_backward({padded, weight});
    context->set_materialize_grads(false);  // else sums get gradients, of zeros
    const auto [y, sums] = stem_forward(padded, weight);
    context->mark_non_differentiable({sums});
    return {y, sums};
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    if (!gradients[0].defined()) return variable_list(2);
    const PlainTensors plain;
    const variable_list saved = context->get_saved_variables();
    return {{}, stem_weight_gradient(saved[0], saved[1], gradients[0])};
  }
};

}  // namespace

StemForm stem_form(const Tensor& images) {
  const bool half = images.scalar_type() == at::kHalf || images.scalar_type() == at::kBFloat16;
  const bool fits = half && images.is_cuda() && images.dim() == 4 && images.size(1) == kImageChannels &&
                    images.size(2) % kStep == 0 && images.size(3) % kStep == 0 &&
                    images.is_contiguous(at::MemoryFormat::ChannelsLast);
  return fits ? StemForm::kPadded : StemForm::kPlain;
}

StemForm stem_form_of(int64_t channels) {
  return channels == kPaddedChannels ? StemForm::kPadded : StemForm::kPlain;
}

std::vector<int64_t> formed_sizes(at::IntArrayRef image_sizes, StemForm form) {
  std::vector<int64_t> sizes = image_sizes.vec();
  if (form == StemForm::kPadded) sizes[1] = kPaddedChannels;
  return sizes;
}

void form_images(const Tensor& images, const Tensor& formed) {
  if (stem_form_of(formed.size(1)) == StemForm::kPadded && pad_by_kernel(images, formed)) return;
  formed.narrow(1, 0, images.size(1)).copy_(images, /*non_blocking=*/true);
}

Tensor form_images(const Tensor& images, StemForm form) {
  if (form == StemForm::kPlain) return images;
  const std::vector<int64_t> sizes = formed_sizes(images.sizes(), form);
  Tensor formed = at::zeros({sizes[0], sizes[2], sizes[3], sizes[1]}, images.options()).permute({0, 3, 1, 2});
  form_images(images, formed);
  return formed;
}

Convolved convolve_stem(const Tensor& formed, const Tensor& weight, ConvUse use) {
  if (stem_form_of(formed.size(1)) == StemForm::kPlain) {
    return convolve(formed, weight, kStep, kPadding, use);
  }
  if (!stem_kernels_take(formed, weight)) return convolve(formed, pad_channels(weight), kStep, kPadding, use);
  const variable_list made = StemConvolution::apply(formed, weight);
  return {made[0], made[1]};
}

}  // namespace slipstream
