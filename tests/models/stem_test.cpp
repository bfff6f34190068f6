#include "models/stem.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace slipstream {
namespace {

using at::Tensor;

const at::TensorOptions kExact(at::kDouble);

TEST(Stem, FoldedIsTheSameConvolution) {
  at::manual_seed(1);
  for (const auto& [height, width] : {std::pair(32, 32), std::pair(6, 10), std::pair(2, 4)}) {
    const Tensor images = at::randn({2, 3, height, width}, kExact).contiguous(at::MemoryFormat::ChannelsLast);
    const Tensor weight = at::randn({5, 3, 7, 7}, kExact).set_requires_grad(true);
    const Tensor folded_weight = weight.detach().clone().set_requires_grad(true);
    const Tensor y = at::conv2d(images, weight, {}, 2, 3);
    const Tensor folded = at::conv2d(fold_images(images), fold_stem_weight(folded_weight));
    ASSERT_EQ(folded.sizes(), y.sizes());
    EXPECT_TRUE(at::allclose(folded, y, 0, 1e-12));
    const Tensor dy = at::randn_like(y);
    y.backward(dy);
    folded.backward(dy);
    EXPECT_TRUE(at::allclose(folded_weight.grad(), weight.grad(), 0, 1e-11));
  }
}

TEST(Stem, FoldsIntoMemoryWhosePaddingStaysZero) {
  const Tensor images = at::rand({1, 3, 8, 8}, kExact).contiguous(at::MemoryFormat::ChannelsLast) + 1;
  const Tensor folded = fold_images(images);
  EXPECT_EQ(folded.sizes().vec(), folded_sizes(images.sizes()));
  EXPECT_EQ(folded.sizes().vec(), (std::vector<int64_t>{1, 16, 7, 7}));
  EXPECT_TRUE(folded.is_contiguous(at::MemoryFormat::ChannelsLast));
  const Tensor again = images * 3;
  fold_images(again, folded);
  EXPECT_TRUE(at::equal(folded, fold_images(again)));
  EXPECT_DOUBLE_EQ(folded.sum().item<double>(), again.sum().item<double>());
  EXPECT_EQ(folded.count_nonzero().item<int64_t>(), images.numel());
}

TEST(Stem, StaysAsItIsOnTheCpu) {
  EXPECT_FALSE(
      folds_stem(at::rand({1, 3, 8, 8}).to(at::kBFloat16).contiguous(at::MemoryFormat::ChannelsLast)));
}

}  // namespace
}  // namespace slipstream
