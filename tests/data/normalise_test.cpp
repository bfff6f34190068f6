#include "data/normalise.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace slipstream {
namespace {

const c10::Stream kCpuStream(c10::Stream::DEFAULT, c10::kCPU);

at::Tensor random_pixels(int64_t n, int64_t size) {
  return at::randint(256, {n, size, size, 3}, at::TensorOptions(at::kByte));
}

// The definition, by LibTorch's operators in double precision.
at::Tensor reference(const at::Tensor& pixels, const at::Tensor& flips) {
  const at::Tensor mean = at::tensor({0.485, 0.456, 0.406}, at::kDouble);
  const at::Tensor deviation = at::tensor({0.229, 0.224, 0.225}, at::kDouble);
  at::Tensor images = ((pixels.to(at::kDouble) / 255 - mean) / deviation).permute({0, 3, 1, 2}).contiguous();
  for (int64_t n = 0; n < images.size(0); ++n) {
    if (flips[n].item<uint8_t>() != 0) images[n].copy_(images[n].flip({2}));
  }
  return images;
}

TEST(Normalise, FollowsItsDefinitionInEveryTypeAndLayout) {
  const at::Tensor pixels = random_pixels(3, 17);
  const at::Tensor flips = at::tensor({0, 1, 0}, at::kByte);
  const at::Tensor expected = reference(pixels, flips);
  for (const auto& [type, tolerance] :
       {std::pair{at::kFloat, 1e-6}, std::pair{at::kHalf, 2e-3}, std::pair{at::kBFloat16, 1.6e-2}}) {
    for (const auto layout : {at::MemoryFormat::Contiguous, at::MemoryFormat::ChannelsLast}) {
      const at::Tensor images = at::empty({3, 3, 17, 17}, at::TensorOptions(type), layout);
      images.fill_(777);
      normalise(kCpuStream, pixels, flips, images);
      EXPECT_LE((images.to(at::kDouble) - expected).abs().max().item<double>(), tolerance)
          << at::toString(type) << " layout " << static_cast<int>(layout);
    }
  }
}

TEST(Normalise, WritesOnlyTheImagesGiven) {
  const at::Tensor pixels = random_pixels(2, 5);
  const at::Tensor images = at::empty({4, 3, 5, 5});
  images.fill_(777);
  normalise(kCpuStream, pixels, at::tensor({0, 0}, at::kByte), images.narrow(0, 1, 2));
  EXPECT_TRUE(images[0].eq(777).all().item<bool>());
  EXPECT_TRUE(images[3].eq(777).all().item<bool>());
  EXPECT_FALSE(images.narrow(0, 1, 2).eq(777).any().item<bool>());
}

TEST(Normalise, RejectsShapesThatDisagree) {
  const at::Tensor pixels = random_pixels(2, 5);
  EXPECT_THROW(normalise(kCpuStream, pixels, at::tensor({0, 0}, at::kByte), at::empty({2, 3, 5, 6})),
               c10::Error);
  EXPECT_THROW(normalise(kCpuStream, pixels, at::tensor({0}, at::kByte), at::empty({2, 3, 5, 5})),
               c10::Error);
}

}  // namespace
}  // namespace slipstream
