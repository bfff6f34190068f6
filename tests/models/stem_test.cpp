#include "models/stem.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace slipstream {
namespace {

using at::Tensor;

const at::TensorOptions kExact(at::kDouble);

Tensor exact_images(int64_t count, int64_t height, int64_t width) {
  return at::randn({count, 3, height, width}, kExact).contiguous(at::MemoryFormat::ChannelsLast);
}

TEST(Stem, IsTheSameConvolutionInEveryForm) {
  at::manual_seed(1);
  for (const StemForm form : {StemForm::kPlain, StemForm::kPadded}) {
    for (const auto& [height, width] : {std::pair(32, 32), std::pair(6, 10), std::pair(2, 4)}) {
      const Tensor images = exact_images(2, height, width);
      const Tensor weight = at::randn({5, 3, 7, 7}, kExact).set_requires_grad(true);
      const Tensor of_formed = weight.detach().clone().set_requires_grad(true);
      const Tensor expected = at::conv2d(images, weight, {}, 2, 3);
      const Tensor formed = form_images(images, form);
      EXPECT_EQ(stem_form_of(formed.size(1)), form);
      const Tensor y = convolve_stem(formed, of_formed, ConvUse::kTraining).y;
      ASSERT_EQ(y.sizes(), expected.sizes());
      EXPECT_TRUE(at::allclose(y, expected, 0, 1e-12));
      const Tensor dy = at::randn_like(y);
      expected.backward(dy);
      y.backward(dy);
      EXPECT_TRUE(at::allclose(of_formed.grad(), weight.grad(), 0, 1e-11));
    }
  }
}

TEST(Stem, FormsIntoMemoryWhoseZerosStay) {
  const Tensor images = exact_images(1, 8, 8).abs() + 1;
  const Tensor formed = form_images(images, StemForm::kPadded);
  EXPECT_EQ(formed.sizes(), at::IntArrayRef({1, 4, 8, 8}));
  EXPECT_EQ(formed.sizes(), formed_sizes(images.sizes(), StemForm::kPadded));
  EXPECT_TRUE(formed.is_contiguous(at::MemoryFormat::ChannelsLast));
  const Tensor again = images * 3;
  form_images(again, formed);
  EXPECT_TRUE(at::equal(formed, form_images(again, StemForm::kPadded)));
  EXPECT_NEAR(formed.sum().item<double>(), again.sum().item<double>(), 1e-9);
  EXPECT_EQ(formed.count_nonzero().item<int64_t>(), images.numel());
}

TEST(Stem, StaysPlainOnTheCpu) {
  EXPECT_EQ(stem_form(exact_images(1, 8, 8).to(at::kBFloat16)), StemForm::kPlain);
  EXPECT_EQ(stem_form_of(3), StemForm::kPlain);
}

}  // namespace
}  // namespace slipstream
