#include <ATen/ATen.h>
#include <c10/cuda/CUDAFunctions.h>
#include <gtest/gtest.h>

#include "models/stem.h"

namespace slipstream {
namespace {

TEST(StemGpuTest, FormsByAKernelAsTheCpuDoes) {
  if (c10::cuda::device_count() == 0) GTEST_SKIP() << "this machine has no NVIDIA GPU";
  at::manual_seed(1);
  for (const StemForm form : {StemForm::kPadded, StemForm::kFolded}) {
    for (const auto& [count, height, width] :
         {std::tuple(5, 224, 224), std::tuple(1, 2, 2), std::tuple(3, 6, 34)}) {
      const at::Tensor images =
          at::randn({count, 3, height, width}).to(at::kHalf).contiguous(at::MemoryFormat::ChannelsLast);
      const at::Tensor on_gpu = images.to(at::kCUDA);
      const at::Tensor formed = form_images(on_gpu, form);
      EXPECT_TRUE(at::equal(formed.cpu(), form_images(images, form)));
      form_images(on_gpu * 2, formed);  // again, over the same memory
      EXPECT_TRUE(at::equal(formed.cpu(), form_images(images * 2, form)));
    }
  }
}

TEST(StemGpuTest, TakesTheFormOfItsType) {
  if (c10::cuda::device_count() == 0) GTEST_SKIP() << "this machine has no NVIDIA GPU";
  const at::Tensor images =
      at::zeros({2, 3, 8, 6}, at::TensorOptions(at::kCUDA)).contiguous(at::MemoryFormat::ChannelsLast);
  EXPECT_EQ(stem_form(images.to(at::kHalf)), StemForm::kPadded);
  EXPECT_EQ(stem_form(images.to(at::kBFloat16)), StemForm::kFolded);
  EXPECT_EQ(stem_form(images), StemForm::kPlain);
  EXPECT_EQ(stem_form(images.to(at::kHalf).contiguous()), StemForm::kPlain);
  EXPECT_EQ(stem_form(images.to(at::kHalf).narrow(3, 0, 5).contiguous(at::MemoryFormat::ChannelsLast)),
            StemForm::kPlain);
}

}  // namespace
}  // namespace slipstream
