#include "data/antialias.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <opencv2/core.hpp>

namespace slipstream {
namespace {

using testing::ElementsAre;

constexpr int32_t kOne = 1 << kWeightBits;

AntialiasFilter bilinear(int in, int resized) { return {in, resized, Interpolation::kBilinear}; }

std::vector<int32_t> weights_of(const AxisTaps& taps, int output) {
  const auto begin = taps.weights.begin() + output * taps.stride;
  return {begin, begin + taps.count[output]};
}

TEST(FindTaps, HalvesByTheTriangle) {
  AxisTaps taps;
  find_taps(bilinear(8, 4), 0, 4, taps);  // the triangle is two source pixels wide to each side
  EXPECT_THAT(taps.begin, ElementsAre(0, 1, 3, 5));
  EXPECT_THAT(taps.count, ElementsAre(3, 4, 4, 3));
  EXPECT_THAT(weights_of(taps, 1), ElementsAre(kOne / 8, 3 * kOne / 8, 3 * kOne / 8, kOne / 8));
}

TEST(FindTaps, InterpolatesWhereItGrows) {
  AxisTaps taps;
  find_taps(bilinear(2, 4), 0, 4, taps);
  EXPECT_THAT(weights_of(taps, 0), ElementsAre(kOne));  // nothing lies beyond the edge
  EXPECT_THAT(weights_of(taps, 1), ElementsAre(3 * kOne / 4, kOne / 4));
}

TEST(FindTaps, InterpolatesByTheCubic) {
  AxisTaps taps;
  find_taps({4, 8, Interpolation::kBicubic}, 0, 8, taps);
  // A quarter of a pixel beyond pixel 1: Keys' cubic of a = -0.5 at distances 1.25, 0.25, 0.75 and 1.75.
  EXPECT_EQ(taps.begin[3], 0);
  EXPECT_THAT(weights_of(taps, 3),
              ElementsAre(-9 * kOne / 128, 111 * kOne / 128, 29 * kOne / 128, -3 * kOne / 128));
}

TEST(FindTaps, ReadsABoxThatBeginsWithinAPixel) {
  AxisTaps taps;
  find_taps({9, 0.5, 8, 4, Interpolation::kBilinear}, 0, 4, taps);  // centres at 1.5, 3.5, ...
  EXPECT_EQ(taps.begin[1], 2);
  EXPECT_THAT(weights_of(taps, 1), ElementsAre(kOne / 4, kOne / 2, kOne / 4, 0));
}

TEST(FindTaps, SumsToOneAndStaysInside) {
  AxisTaps taps;
  for (const auto& [in, resized] :
       {std::pair{500, 224}, {224, 224}, {97, 256}, {4000, 3}, {1, 50}, {50, 1}}) {
    for (const Interpolation interpolation : {Interpolation::kBilinear, Interpolation::kBicubic}) {
      find_taps({in, resized, interpolation}, 0, resized, taps);
      for (int output = 0; output < resized; ++output) {
        const auto weights = weights_of(taps, output);
        EXPECT_NEAR(std::accumulate(weights.begin(), weights.end(), 0), kOne, taps.stride)
            << in << ' ' << resized;
        EXPECT_GE(taps.begin[output], 0);
        EXPECT_LE(taps.begin[output] + taps.count[output], in);
      }
    }
  }
}

TEST(FindTaps, GivesAWindowTheWholesTaps) {
  AxisTaps whole;
  AxisTaps window;
  find_taps(bilinear(333, 256), 0, 256, whole);
  find_taps(bilinear(333, 256), 16, 224, window);
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

TEST(AntialiasedResize, ResizesABoxAsThePictureThatItIs) {
  cv::Mat image(40, 60, CV_8UC3);
  for (int y = 0; y < image.rows; ++y) {
    for (int x = 0; x < image.cols; ++x) image.at<cv::Vec3b>(y, x) = cv::Vec3b(4 * x, 6 * y, 2 * x + 3 * y);
  }
  AntialiasedResize resize;
  cv::Mat out(10, 10, CV_8UC3);
  resize(image, cv::Rect2d(10.25, 5.5, 20, 20), {0, 0, 40, 40, 10, 10}, 10, out.data);
  for (int y = 0; y < 10; ++y) {
    for (int x = 0; x < 10; ++x) {
      const double at_x = 10.25 + 2 * (x + 0.5) - 0.5;  // a ramp's mean is its value at the centre
      const double at_y = 5.5 + 2 * (y + 0.5) - 0.5;
      EXPECT_NEAR(out.at<cv::Vec3b>(y, x)[0], 4 * at_x, 1.01);
      EXPECT_NEAR(out.at<cv::Vec3b>(y, x)[1], 6 * at_y, 1.01);
    }
  }
}

}  // namespace
}  // namespace slipstream
