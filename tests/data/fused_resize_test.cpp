#include "data/fused_resize.h"

#include <gtest/gtest.h>

#include <opencv2/core.hpp>
#include <vector>

#include "data/antialias.h"
#include "data/fused_image.h"

namespace slipstream {
namespace {

/// What the kernel's threads do, one after the other on the CPU.
cv::Mat resize_by_columns(const cv::Mat& crop, const CropPlan& plan, int size) {
  const FusedImage image = fused_image(crop.data, static_cast<int>(crop.step), plan, /*flip=*/false);
  const AntialiasFilter columns(plan.width, plan.resized_width, plan.interpolation);
  const AntialiasFilter rows(plan.height, plan.resized_height, plan.interpolation);
  constexpr int kStep = 5;  // as if four other threads' elements lay between
  std::vector<int32_t> column_weights(static_cast<size_t>(columns.most_taps()) * kStep);
  std::vector<int32_t> row_weights(static_cast<size_t>(rows.most_taps()) * kStripRows);
  std::vector<uint32_t> ring(static_cast<size_t>(rows.most_taps()) * kStep);
  cv::Mat out(size, size, CV_8UC3);
  for (int first = 0; first < size; first += kStripRows) {
    const int end = std::min(first + kStripRows, size);
    for (int y = first; y < end; ++y) {
      rows.weigh(plan.window_y + y, &row_weights[static_cast<size_t>(y - first) * rows.most_taps()], 1);
    }
    for (int x = 0; x < size; ++x) {
      columns.weigh(plan.window_x + x, column_weights.data(), kStep);
      const auto store = [&](int y, int channel, uint8_t value) { out.at<cv::Vec3b>(y, x)[channel] = value; };
      resample_column(image, x, first, end, column_weights.data(), row_weights.data(), ring.data(), kStep,
                      store);
    }
  }
  return out;
}

TEST(ResampleColumn, MakesTheCpuPathsPixels) {
  AntialiasedResize resize;
  for (const auto& [width, height] :
       {std::pair{500, 375}, {224, 224}, {97, 301}, {1, 1}, {13, 700}, {1500, 9}}) {
    cv::Mat image(height, width, CV_8UC3);
    cv::RNG(9).fill(image, cv::RNG::UNIFORM, 0, 256);
    for (const int size : {64, 33}) {
      for (const CropPlan& plan : {CropPlan{0, 0, width, height, size, size},
                                   CropPlan{0, 0, width, height, size + 20, size + 31, 7, 12},
                                   centre_crop(width, height, size + 9, size, Interpolation::kBicubic)}) {
        if (plan.resized_width > 4000 || plan.resized_height > 4000) continue;  // of a line of pixels
        cv::Mat expected(size, size, CV_8UC3);
        resize(image, plan, size, expected.data);
        EXPECT_EQ(cv::norm(resize_by_columns(image, plan, size), expected, cv::NORM_INF), 0)
            << width << 'x' << height << " to " << plan.resized_width;
      }
    }
  }
}

}  // namespace
}  // namespace slipstream
