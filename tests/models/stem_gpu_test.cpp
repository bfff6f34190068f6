// The first convolution's kernels: no further from float64 than PyTorch's in the same type.
#include <ATen/ATen.h>
#include <c10/cuda/CUDAFunctions.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "models/stem.h"
#include "tests/models/conv_accuracy.h"

namespace slipstream {
namespace {

using at::Tensor;
using test::expect_no_worse;
using test::random_on_gpu;

class StemGpuTest : public testing::Test {
 protected:
  void SetUp() override {
    if (c10::cuda::device_count() == 0) GTEST_SKIP() << "this machine has no NVIDIA GPU";
    at::manual_seed(1);
  }
};

TEST_F(StemGpuTest, PadsByAKernelAsTheCpuDoes) {
  for (const auto& [count, height, width] :
       {std::tuple(5, 224, 224), std::tuple(1, 2, 2), std::tuple(3, 6, 34)}) {
    const Tensor images =
        at::randn({count, 3, height, width}).to(at::kHalf).contiguous(at::MemoryFormat::ChannelsLast);
    const Tensor on_gpu = images.to(at::kCUDA);
    const Tensor formed = form_images(on_gpu, StemForm::kPadded);
    EXPECT_TRUE(at::equal(formed.cpu(), form_images(images, StemForm::kPadded)));
    form_images(on_gpu * 2, formed);  // again, over the same memory
    EXPECT_TRUE(at::equal(formed.cpu(), form_images(images * 2, StemForm::kPadded)));
  }
}

TEST_F(StemGpuTest, TakesTheFormOfItsType) {
  const Tensor images =
      at::zeros({2, 3, 8, 6}, at::TensorOptions(at::kCUDA)).contiguous(at::MemoryFormat::ChannelsLast);
  EXPECT_EQ(stem_form(images.to(at::kHalf)), StemForm::kPadded);
  EXPECT_EQ(stem_form(images.to(at::kBFloat16)), StemForm::kPadded);
  EXPECT_EQ(stem_form(images), StemForm::kPlain);
  EXPECT_EQ(stem_form(images.to(at::kHalf).contiguous()), StemForm::kPlain);
  EXPECT_EQ(stem_form(images.to(at::kHalf).narrow(3, 0, 5).contiguous(at::MemoryFormat::ChannelsLast)),
            StemForm::kPlain);
}

struct Made {
  Tensor y, sums, dweight;
};

Made run(const Tensor& images, const Tensor& weight, const Tensor& dy, StemForm form) {
  const Tensor of = weight.detach().clone(at::MemoryFormat::ChannelsLast).set_requires_grad(true);
  const auto [y, sums] = convolve_stem(form_images(images, form), of, ConvUse::kTraining);
  y.backward(dy);
  return {y.detach(), sums, of.grad()};
}

// Sizes: the network's, of several tiles across and down, with groups and tiles cut off, the least.
TEST_F(StemGpuTest, KernelsAreNoWorseThanPyTorchsAndRepeat) {
  for (const at::ScalarType type : {at::kHalf, at::kBFloat16}) {
    for (const auto& [count, height, width] :
         {std::tuple(32, 224, 224), std::tuple(16, 64, 64), std::tuple(2, 32, 448), std::tuple(3, 10, 240),
          std::tuple(2, 6, 34), std::tuple(1, 2, 2)}) {
      SCOPED_TRACE(fmt::format("{} {}x{}x{}", toString(type), count, height, width));
      const Tensor images = random_on_gpu({count, 3, height, width}, 1, type) + 0.5;
      const Tensor weight = random_on_gpu({64, 3, 7, 7}, 0.1, type);
      const Tensor dy = random_on_gpu({count, 64, height / 2, width / 2}, 1, type);
      const Made ours = run(images, weight, dy, StemForm::kPadded);
      const Made theirs = run(images, weight, dy, StemForm::kPlain);
      const Made exact =
          run(images.to(at::kDouble), weight.to(at::kDouble), dy.to(at::kDouble), StemForm::kPlain);
      expect_no_worse("output", ours.y, theirs.y, exact.y);
      expect_no_worse("weight gradient", ours.dweight, theirs.dweight, exact.dweight);
      ASSERT_TRUE(ours.sums.defined());
      const Tensor sums = ours.sums.to(at::kDouble).sum(0);
      const Tensor values = exact.y.transpose(0, 1).flatten(1);
      EXPECT_TRUE(at::allclose(sums[0], values.sum(1), 1e-5, 1e-5 * static_cast<double>(values.size(1))));
      EXPECT_TRUE(at::allclose(sums[1], values.square().sum(1), 1e-4));
      const Made again = run(images, weight, dy, StemForm::kPadded);
      EXPECT_TRUE(at::equal(again.y, ours.y));
      EXPECT_TRUE(at::equal(again.sums, ours.sums));
      EXPECT_TRUE(at::equal(again.dweight, ours.dweight));
    }
  }
}

// An image that isn't finite must not spoil others, nor what is outside of them.
TEST_F(StemGpuTest, KeepsImagesApart) {
  const Tensor images = random_on_gpu({3, 3, 20, 36}, 1, at::kHalf);
  const Tensor weight = random_on_gpu({64, 3, 7, 7}, 0.1, at::kHalf);
  const auto first_and_last = [&] {
    const Tensor y = convolve_stem(form_images(images, StemForm::kPadded), weight, ConvUse::kTraining).y;
    return at::stack({y[0], y[2]});
  };
  const Tensor before = first_and_last();
  images[1].fill_(std::numeric_limits<float>::quiet_NaN());
  EXPECT_TRUE(at::equal(first_and_last(), before));
}

TEST_F(StemGpuTest, LeavesOtherTensorsToCudnn) {
  const Tensor images = random_on_gpu({2, 3, 8, 8}, 1, at::kHalf);
  const Tensor formed = form_images(images, StemForm::kPadded);
  const auto sums = [&](const Tensor& weight) {
    return convolve_stem(formed, weight, ConvUse::kTraining).sums;
  };
  EXPECT_TRUE(sums(random_on_gpu({64, 3, 7, 7}, 1, at::kHalf)).defined());
  EXPECT_FALSE(sums(random_on_gpu({32, 3, 7, 7}, 1, at::kHalf)).defined());
  EXPECT_FALSE(sums(random_on_gpu({64, 3, 7, 7}, 1, at::kHalf).contiguous()).defined());
}

}  // namespace
}  // namespace slipstream
