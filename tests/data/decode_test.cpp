#include "data/decode.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include "data/error.h"
#include "data/file_io.h"
#include "data/jpeg.h"
#include "data/resize.h"
#include "tests/support/test_support.h"

namespace slipstream {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

// Smooth, so that lossy codecs keep it; different in each channel, so that a swap shows.
cv::Mat gradient(int width, int height) {
  cv::Mat bgr(height, width, CV_8UC3);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      bgr.at<cv::Vec3b>(y, x) = {static_cast<uint8_t>(40 + 60 * x / width),
                                 static_cast<uint8_t>(200 - 90 * y / height),
                                 static_cast<uint8_t>(90 + 120 * x / width)};
    }
  }
  return bgr;
}

std::vector<uint8_t> encode(const std::string& extension, const cv::Mat& bgr,
                            const std::vector<int>& options = {}) {
  std::vector<uint8_t> bytes;
  cv::imencode(extension, bgr, bytes, options);
  return bytes;
}

cv::Mat decode(std::span<const uint8_t> bytes) {
  cv::Mat rgb;
  decode_image(bytes, rgb);
  return rgb;
}

double largest_difference(const cv::Mat& rgb, const cv::Mat& bgr) {
  cv::Mat expected;
  cv::cvtColor(bgr, expected, cv::COLOR_BGR2RGB);
  return cv::norm(rgb, expected, cv::NORM_INF);
}

TEST(DecodeImage, ReadsLosslessFormatsExactly) {
  const cv::Mat image = gradient(61, 37);
  for (const char* extension : {".png", ".bmp"}) {
    const cv::Mat rgb = decode(encode(extension, image));
    ASSERT_EQ(rgb.size(), image.size()) << extension;
    EXPECT_EQ(largest_difference(rgb, image), 0) << extension;
  }
}

TEST(DecodeImage, ReadsJpegAndWebpClosely) {
  const cv::Mat image = gradient(61, 37);
  for (const auto& [extension, options] :
       {std::pair<const char*, std::vector<int>>{".jpg", {cv::IMWRITE_JPEG_QUALITY, 95}},
        {".jpg", {cv::IMWRITE_JPEG_QUALITY, 95, cv::IMWRITE_JPEG_PROGRESSIVE, 1}},
        {".webp", {cv::IMWRITE_WEBP_QUALITY, 95}}}) {
    const cv::Mat rgb = decode(encode(extension, image, options));
    ASSERT_EQ(rgb.size(), image.size()) << extension;
    EXPECT_LE(largest_difference(rgb, image), 8) << extension;
  }
}

TEST(DecodeImage, SpreadsGrayOverTheChannels) {
  cv::Mat gray(20, 30, CV_8UC1);
  cv::randu(gray, 0, 255);
  for (const char* extension : {".png", ".jpg"}) {
    const cv::Mat rgb = decode(encode(extension, gray));
    ASSERT_EQ(rgb.type(), CV_8UC3) << extension;
    std::vector<cv::Mat> planes;
    cv::split(rgb, planes);
    EXPECT_EQ(cv::norm(planes[0], planes[1], cv::NORM_INF), 0) << extension;
    EXPECT_EQ(cv::norm(planes[0], planes[2], cv::NORM_INF), 0) << extension;
  }
}

TEST(DecodeImage, TellsFormatsByContent) {
  const cv::Mat image = gradient(16, 16);
  EXPECT_FALSE(is_jpeg(encode(".png", image)));
  EXPECT_TRUE(is_jpeg(encode(".jpg", image)));
}

TEST(DecodeImage, RefusesATruncatedFile) {
  const cv::Mat image = gradient(200, 150);
  for (const auto& bytes :
       {encode(".jpg", image), encode(".jpg", image, {cv::IMWRITE_JPEG_PROGRESSIVE, 1})}) {
    const std::span<const uint8_t> half(bytes.data(), bytes.size() / 2);
    EXPECT_THAT([&] { decode(half); }, ThrowsMessage<Error>(HasSubstr("Premature end of JPEG file")));
  }
  const auto png = encode(".png", image);
  EXPECT_THROW(decode({png.data(), png.size() / 2}), Error);
}

TEST(DecodeImage, RefusesWhatIsNoImage) {
  EXPECT_THAT([] { decode({}); }, ThrowsMessage<Error>(HasSubstr("empty")));
  const std::vector<uint8_t> text = {'h', 'e', 'l', 'l', 'o', ' ', 'w', 'o', 'r', 'l', 'd'};
  EXPECT_THAT([&] { decode(text); }, ThrowsMessage<Error>(HasSubstr("no whole JPEG, PNG, BMP or WebP")));
  const std::vector<uint8_t> marker = {0xFF, 0xD8, 0xFF, 0xE0};
  EXPECT_THAT([&] { decode(marker); }, ThrowsMessage<Error>(HasSubstr("damaged JPEG")));
}

TEST(DecodeImage, RefusesWhatIsNoImageAlsoAfterAnImage) {
  cv::Mat rgb;
  decode_image(encode(".png", gradient(16, 16)), rgb);
  const std::vector<uint8_t> text(40, 'x');
  EXPECT_THROW(decode_image(text, rgb), Error);
}

TEST(DecodeImage, ReadsEveryRealPhotograph) {
  const auto folder = test::shared_data("imagenet-sample");
  if (folder.empty()) GTEST_SKIP() << "the photographs of ../shared/data/imagenet-sample are not here";
  int count = 0;
  std::vector<uint8_t> bytes;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    read_file(entry.path().string(), bytes);
    const cv::Mat rgb = decode(bytes);
    EXPECT_GE(rgb.cols, 56) << entry.path();
    EXPECT_GE(rgb.rows, 56) << entry.path();
    ++count;
  }
  EXPECT_EQ(count, 119);
}

TEST(ResizeWindow, TakesTheRectangleAndTheWindow) {
  // Four flat quarters: the resize of one is flat, so the values tell which was taken.
  cv::Mat rgb(80, 80, CV_8UC3);
  rgb(cv::Rect(0, 0, 40, 40)) = cv::Scalar(10, 20, 30);
  rgb(cv::Rect(40, 0, 40, 40)) = cv::Scalar(50, 60, 70);
  rgb(cv::Rect(0, 40, 40, 40)) = cv::Scalar(90, 100, 110);
  rgb(cv::Rect(40, 40, 40, 40)) = cv::Scalar(130, 140, 150);
  cv::Mat scratch;
  cv::Mat out(16, 16, CV_8UC3);

  resize_window(rgb, {40, 0, 40, 40, 16, 16}, 16, scratch, out.data);
  EXPECT_EQ(cv::norm(out, cv::Mat(16, 16, CV_8UC3, cv::Scalar(50, 60, 70)), cv::NORM_INF), 0);

  resize_window(rgb, {0, 0, 80, 80, 40, 40, 2, 22}, 16, scratch, out.data);  // inside the lower left quarter
  EXPECT_EQ(cv::norm(out, cv::Mat(16, 16, CV_8UC3, cv::Scalar(90, 100, 110)), cv::NORM_INF), 0);
}

TEST(ResizeWindow, AveragesAreasWhenShrinkingAndInterpolatesOtherwise) {
  EXPECT_EQ(opencv_interpolation({0, 0, 100, 100, 50, 50}), cv::INTER_AREA);
  EXPECT_EQ(opencv_interpolation({0, 0, 20, 20, 50, 50}), cv::INTER_LINEAR);
  EXPECT_EQ(opencv_interpolation({0, 0, 100, 20, 50, 50}), cv::INTER_LINEAR);
}

}  // namespace
}  // namespace slipstream
