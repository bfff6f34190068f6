#include "pipeline/sample_preparer.h"

#include <ATen/ops/any.h>
#include <ATen/ops/zero.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <opencv2/imgcodecs.hpp>

#include "pipeline/index_folder.h"
#include "tests/pipeline/pipeline_fixture.h"

namespace slipstream {
namespace {
namespace fs = std::filesystem;

// A device that decodes any image, those of even widths exactly.
class WillingProbe : public JpegProbe {
 public:
  std::optional<JpegInfo> info_if_supported(std::span<const uint8_t> bytes) override {
    const cv::Size size =
        cv::imdecode({bytes.data(), static_cast<int>(bytes.size())}, cv::IMREAD_COLOR).size();
    return JpegInfo{size, size.width % 2 == 0};
  }
};

class SamplePreparerTest : public testing::Test {
 protected:
  // Which of images of these sizes are left to the device, for samples of 32 px.
  std::vector<bool> left_to_device(const std::vector<cv::Size>& sizes, int64_t cpu_pixels,
                                   GpuDecode gpu_decode = GpuDecode::kFast) {
    const test::TemporaryFolder root;
    fs::create_directory(root.path() / "class");
    for (size_t i = 0; i < sizes.size(); ++i) {
      const cv::Mat image(sizes[i], CV_8UC3, cv::Scalar(20, 120, 220));
      cv::imwrite((root.path() / "class" / fmt::format("{}.jpg", i)).string(), image);
    }
    const ImageFolder folder = index_folder(root.path().string(), 1, [](int64_t, int64_t, int64_t) {});
    const auto count = static_cast<int64_t>(sizes.size());
    const LoaderOptions options{.cpu_pixels = cpu_pixels,
                                .gpu_decode = gpu_decode,
                                .batch_size = count,
                                .image_size = 32,
                                .val_resize = 36,
                                .compute = c10::Stream(c10::Stream::DEFAULT, c10::kCPU)};
    Slot slot(options);
    slot.begin(std::make_shared<Pass>(evaluation_pass(folder, count, 0)), 0, 0, options);
    SamplePreparer preparer(options, std::make_unique<WillingProbe>());
    std::vector<bool> left;
    for (int64_t i = 0; i < count; ++i) {
      slot.host_pixels[i].zero_();
      preparer.prepare(slot, i);
      left.push_back(!slot.encoded[i].bytes.empty());
      const bool has_pixels = slot.host_pixels[i].any().item<bool>();
      EXPECT_NE(left.back(), has_pixels) << "image " << i << " is either's, and not both's";
    }
    return left;
  }
};

TEST_F(SamplePreparerTest, LeavesToAnExactDeviceWhatItMakesPillowsPixelsOf) {
  const std::vector<cv::Size> sizes = {{40, 40}, {41, 40}, {42, 41}, {32, 31}};
  EXPECT_EQ(left_to_device(sizes, 0, GpuDecode::kExact), (std::vector<bool>{true, false, true, false}));
  EXPECT_EQ(left_to_device(sizes, 0, GpuDecode::kFast), (std::vector<bool>{true, true, true, false}));
}

TEST_F(SamplePreparerTest, KeepsImagesSmallerThanTheSampleForTheCpu) {
  EXPECT_EQ(left_to_device({{32, 31}, {32, 32}, {16, 64}, {8, 96}, {100, 60}}, 0),
            (std::vector<bool>{false, true, true, false, true}));
}

TEST_F(SamplePreparerTest, KeepsImagesOfMorePixelsThanTheOptionSaysForTheCpu) {
  EXPECT_EQ(left_to_device({{100, 60}, {60, 100}, {100, 61}, {400, 300}}, 6000),
            (std::vector<bool>{true, true, false, false}));
}

}  // namespace
}  // namespace slipstream
