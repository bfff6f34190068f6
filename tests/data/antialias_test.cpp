#include "data/antialias.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <opencv2/core.hpp>

namespace slipstream {
namespace {

using testing::ElementsAre;

constexpr int32_t kOne = 1 << kWeightBits;

std::vector<int32_t> weights_of(const AxisTaps& taps, int output) {
  const auto begin = taps.weights.begin() + output * taps.stride;
  return {begin, begin + taps.count[output]};
}

TEST(FindTaps, HalvesByTheTriangle) {
  AxisTaps taps;
  find_taps(8, 4, 0, 4, taps);  // the triangle is two source pixels wide to each side
  EXPECT_THAT(taps.begin, ElementsAre(0, 1, 3, 5));
  EXPECT_THAT(taps.count, ElementsAre(3, 4, 4, 3));
  EXPECT_THAT(weights_of(taps, 1), ElementsAre(kOne / 8, 3 * kOne / 8, 3 * kOne / 8, kOne / 8));
}

TEST(FindTaps, InterpolatesWhereItGrows) {
  AxisTaps taps;
  find_taps(2, 4, 0, 4, taps);
  EXPECT_THAT(weights_of(taps, 0), ElementsAre(kOne));  // nothing lies beyond the edge
  EXPECT_THAT(weights_of(taps, 1), ElementsAre(3 * kOne / 4, kOne / 4));
}

TEST(FindTaps, SumsToOneAndStaysInside) {
  AxisTaps taps;
  for (const auto& [in, resized] :
       {std::pair{500, 224}, {224, 224}, {97, 256}, {4000, 3}, {1, 50}, {50, 1}}) {
    find_taps(in, resized, 0, resized, taps);
    for (int output = 0; output < resized; ++output) {
      const auto weights = weights_of(taps, output);
      EXPECT_NEAR(std::accumulate(weights.begin(), weights.end(), 0), kOne, taps.stride)
          << in << ' ' << resized;
      EXPECT_GE(taps.begin[output], 0);
      EXPECT_LE(taps.begin[output] + taps.count[output], in);
    }
  }
}

TEST(FindTaps, GivesAWindowTheWholesTaps) {
  AxisTaps whole;
  AxisTaps window;
  find_taps(333, 256, 0, 256, whole);
  find_taps(333, 256, 16, 224, window);
  for (int output = 0; output < 224; ++output) {
    EXPECT_EQ(window.begin[output], whole.begin[output + 16]);
    EXPECT_EQ(weights_of(window, output), weights_of(whole, output + 16));
  }
}

TEST(AntialiasedResize, KeepsAnImageOfTheRightSize) {
  cv::Mat image(40, 40, CV_8UC3);
  cv::RNG(5).fill(image, cv::RNG::UNIFORM, 0, 256);
  cv::Mat out(40, 40, CV_8UC3);
  AntialiasedResize resize;
  resize(image, {0, 0, 40, 40, 40, 40}, 40, out.data);
  EXPECT_EQ(cv::norm(out, image, cv::NORM_INF), 0);
  cv::Mat window(24, 24, CV_8UC3);
  resize(image, {0, 0, 40, 40, 40, 40, 5, 9}, 24, window.data);
  EXPECT_EQ(cv::norm(window, image(cv::Rect(5, 9, 24, 24)), cv::NORM_INF), 0);
}

TEST(AntialiasedResize, ReadsAViewOfALargerImage) {
  cv::Mat image(90, 120, CV_8UC3);
  cv::RNG(5).fill(image, cv::RNG::UNIFORM, 0, 256);
  const cv::Rect rectangle(11, 7, 60, 70);
  const CropPlan plan{11, 7, 60, 70, 32, 32};
  cv::Mat of_view(32, 32, CV_8UC3);
  cv::Mat of_copy(32, 32, CV_8UC3);
  AntialiasedResize resize;
  resize(image(rectangle), plan, 32, of_view.data);
  resize(image(rectangle).clone(), plan, 32, of_copy.data);
  EXPECT_EQ(cv::norm(of_view, of_copy, cv::NORM_INF), 0);
}

}  // namespace
}  // namespace slipstream
