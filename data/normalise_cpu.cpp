#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>

#include "data/normalise.h"

namespace slipstream {
namespace {

// All 256 values of a channel: a lookup replaces the arithmetic.
template <typename Value>
std::array<std::array<Value, 256>, 3> normalised_values() {
  std::array<std::array<Value, 256>, 3> table;
  for (size_t channel = 0; channel < 3; ++channel) {
    for (int value = 0; value < 256; ++value) {
      const float scaled = static_cast<float>(value) / 255.0F;
      table[channel][value] = static_cast<Value>((scaled - kMean[channel]) / kDeviation[channel]);
    }
  }
  return table;
}

template <typename Value>
void normalise_batch(const at::Tensor& pixels, const at::Tensor& flips, const at::Tensor& images) {
  static const auto table = normalised_values<Value>();
  const int64_t size = pixels.size(1);
  const auto* in = pixels.const_data_ptr<uint8_t>();
  const auto* flip = flips.const_data_ptr<uint8_t>();
  auto* out = images.data_ptr<Value>();
  const int64_t stride_n = images.stride(0);
  const int64_t stride_c = images.stride(1);
  const int64_t stride_y = images.stride(2);
  const int64_t stride_x = images.stride(3);
  at::parallel_for(0, pixels.size(0) * size, 64, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const int64_t n = row / size;
      const int64_t y = row % size;
      const uint8_t* source = in + row * size * 3;
      for (int64_t x = 0; x < size; ++x) {
        const uint8_t* pixel = source + 3 * (flip[n] != 0 ? size - 1 - x : x);
        Value* target = out + n * stride_n + y * stride_y + x * stride_x;
        for (int64_t c = 0; c < 3; ++c) target[c * stride_c] = table[c][pixel[c]];
      }
    }
  });
}

}  // namespace

void normalise_cpu(const at::Tensor& pixels, const at::Tensor& flips, const at::Tensor& images) {
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, images.scalar_type(), "normalise",
                                  [&] { normalise_batch<scalar_t>(pixels, flips, images); });
}

void normalise(c10::Stream stream, const at::Tensor& pixels, const at::Tensor& flips,
               const at::Tensor& images) {
  TORCH_CHECK(pixels.is_contiguous() && pixels.dim() == 4 && pixels.size(3) == 3 &&
                  images.sizes() == at::IntArrayRef({pixels.size(0), 3, pixels.size(1), pixels.size(2)}) &&
                  flips.numel() == pixels.size(0),
              "normalise: shapes don't agree");
  if (images.is_cuda()) {
    normalise_cuda(stream, pixels, flips, images);
  } else {
    normalise_cpu(pixels, flips, images);
  }
}

}  // namespace slipstream
