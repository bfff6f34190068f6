#include "data/crop_plan.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace slipstream {
namespace {

TEST(RandomResizedCrop, StaysInsideWithTheAreaAndAspectOfTheDefinition) {
  constexpr int kWidth = 500;
  constexpr int kHeight = 375;
  constexpr int kDraws = 4000;
  double smallest_area = 1;
  double largest_area = 0;
  double sum_area = 0;
  int flips = 0;
  for (uint64_t sample = 0; sample < kDraws; ++sample) {
    Random random(7, Draw::kCrop, 1, sample);
    const CropPlan plan = random_resized_crop(kWidth, kHeight, 224, random);
    ASSERT_GE(plan.x, 0);
    ASSERT_GE(plan.y, 0);
    ASSERT_LE(plan.x + plan.width, kWidth);
    ASSERT_LE(plan.y + plan.height, kHeight);
    ASSERT_EQ(plan.resized_width, 224);
    ASSERT_EQ(plan.resized_height, 224);
    const double area = static_cast<double>(plan.width) * plan.height / (kWidth * kHeight);
    const double aspect = static_cast<double>(plan.width) / plan.height;
    ASSERT_GT(aspect, 0.74);
    ASSERT_LT(aspect, 1.35);
    smallest_area = std::min(smallest_area, area);
    largest_area = std::max(largest_area, area);
    sum_area += area;
    flips += plan.flip ? 1 : 0;
  }
  EXPECT_NEAR(smallest_area, 0.08, 0.005);
  EXPECT_GT(largest_area, 0.97);
  EXPECT_NEAR(sum_area / kDraws, 0.434, 0.012);  // the mean of 6000 draws of torchvision
  EXPECT_NEAR(flips, kDraws / 2, 4 * std::sqrt(kDraws / 4.0));
}

TEST(RandomResizedCrop, IsAFunctionOfItsKey) {
  const auto plan = [](uint64_t seed, uint64_t epoch, uint64_t sample) {
    Random random(seed, Draw::kCrop, epoch, sample);
    return random_resized_crop(640, 480, 224, random);
  };
  EXPECT_EQ(plan(1, 2, 3), plan(1, 2, 3));
  EXPECT_NE(plan(1, 2, 3), plan(2, 2, 3));
  EXPECT_NE(plan(1, 2, 3), plan(1, 3, 3));
  EXPECT_NE(plan(1, 2, 3), plan(1, 2, 4));
}

TEST(RandomResizedCrop, FallsBackToTheCentreWithTheAspectClamped) {
  Random random(1, Draw::kCrop, 1, 1);
  const CropPlan wide = random_resized_crop(4000, 30, 224, random);  // no try fits
  EXPECT_EQ(wide.width, 40);
  EXPECT_EQ(wide.height, 30);
  EXPECT_EQ(wide.x, 1980);
  EXPECT_EQ(wide.y, 0);
  const CropPlan tall = random_resized_crop(30, 4000, 224, random);
  EXPECT_EQ(tall.width, 30);
  EXPECT_EQ(tall.height, 40);
  EXPECT_EQ(tall.y, 1980);
}

TEST(RandomResizedCrop, TakesAnImageOfOnePixel) {
  Random random(1, Draw::kCrop, 1, 1);
  const CropPlan plan = random_resized_crop(1, 1, 224, random);
  EXPECT_EQ(plan.width, 1);
  EXPECT_EQ(plan.height, 1);
}

TEST(CentreCrop, ResizesTheShortSideAndTakesTheMiddle) {
  const CropPlan plan = centre_crop(500, 375, 256, 224, Interpolation::kBilinear);
  EXPECT_EQ(plan.width, 500);
  EXPECT_EQ(plan.height, 375);
  EXPECT_EQ(plan.resized_height, 256);
  EXPECT_EQ(plan.resized_width, 341);  // 341.33 truncated
  EXPECT_EQ(plan.window_x, 58);        // 58.5 rounds to even
  EXPECT_EQ(plan.window_y, 16);
  EXPECT_FALSE(plan.flip);
}

TEST(CentreCrop, WorksOnSquareAndTallImages) {
  const CropPlan square = centre_crop(100, 100, 256, 224, Interpolation::kBilinear);
  EXPECT_EQ(square.resized_width, 256);
  EXPECT_EQ(square.resized_height, 256);
  const CropPlan tall = centre_crop(75, 500, 73, 64, Interpolation::kBilinear);
  EXPECT_EQ(tall.resized_width, 73);
  EXPECT_EQ(tall.resized_height, 486);
  EXPECT_EQ(tall.window_y, 211);
}

TEST(RandomNumbers, AreUniformBelowABound) {
  std::vector<int> counts(7);
  Random random(3, Draw::kOrder, 1, 0);
  for (int i = 0; i < 70000; ++i) ++counts.at(random.below(7));
  for (const int count : counts) EXPECT_NEAR(count, 10000, 400);
}

TEST(RandomNumbers, DifferByPurpose) {
  Random order(3, Draw::kOrder, 1, 0);
  Random crop(3, Draw::kCrop, 1, 0);
  EXPECT_NE(order.bits(), crop.bits());
}

}  // namespace
}  // namespace slipstream
