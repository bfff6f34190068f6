#include "data/decode.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iostream>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include "data/antialias.h"
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
  cv::Mat memory;
  return decode_image(bytes, Exif::kIgnore, whole_image, memory);
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

TEST(DecodeImage, RefusesTwelveBitsASample) {
  auto bytes = encode(".jpg", gradient(64, 64));
  const std::array<uint8_t, 2> frame = {0xFF, 0xC0};
  const auto found = std::search(bytes.begin(), bytes.end(), frame.begin(), frame.end());
  ASSERT_NE(found, bytes.end());
  ASSERT_EQ(found[4], 8);  // behind the marker and its length
  found[4] = 12;
  EXPECT_THAT([&] { decode(bytes); }, ThrowsMessage<Error>(HasSubstr("12 bits a sample")));
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
  decode_image(encode(".png", gradient(16, 16)), Exif::kIgnore, whole_image, rgb);
  const std::vector<uint8_t> text(40, 'x');
  EXPECT_THROW(decode_image(text, Exif::kIgnore, whole_image, rgb), Error);
}

// Noise, so that every block and every chroma sample matters.
cv::Mat noise(int width, int height) {
  cv::Mat bgr(height, width, CV_8UC3);
  cv::RNG random(7);
  random.fill(bgr, cv::RNG::UNIFORM, 0, 256);
  cv::GaussianBlur(bgr, bgr, {5, 5}, 0);
  return bgr;
}

void expect_every_region_as_in_the_whole(std::span<const uint8_t> bytes, const std::string& name) {
  const cv::Mat whole = decode(bytes);
  cv::RNG random(3);
  cv::Mat memory;
  for (int i = 0; i < 40; ++i) {
    const int x = random.uniform(0, whole.cols);
    const int y = random.uniform(0, whole.rows);
    const cv::Rect region(x, y, random.uniform(1, whole.cols - x + 1), random.uniform(1, whole.rows - y + 1));
    cv::Size told;
    const auto region_of = [&](cv::Size size) {
      told = size;
      return region;
    };
    const cv::Mat part = decode_image(bytes, Exif::kIgnore, region_of, memory);
    EXPECT_EQ(told, whole.size());
    ASSERT_EQ(part.size(), region.size());
    EXPECT_EQ(cv::norm(part, whole(region), cv::NORM_INF), 0) << name << ' ' << region;
  }
}

TEST(DecodeImage, GivesARegionThePixelsOfTheWhole) {
  for (const auto& [width, height] : {std::pair{333, 219}, {40, 300}, {17, 9}}) {
    const cv::Mat image = noise(width, height);
    cv::Mat gray;
    cv::cvtColor(image, gray, cv::COLOR_BGR2GRAY);
    expect_every_region_as_in_the_whole(encode(".jpg", image), "4:2:0");
    expect_every_region_as_in_the_whole(encode(".jpg", image, {cv::IMWRITE_JPEG_PROGRESSIVE, 1}),
                                        "progressive");
    expect_every_region_as_in_the_whole(encode(".jpg", image, {cv::IMWRITE_JPEG_RST_INTERVAL, 3}),
                                        "restarts");
    expect_every_region_as_in_the_whole(encode(".jpg", gray), "gray");
    expect_every_region_as_in_the_whole(encode(".png", image), "png");
  }
}

TEST(DecodeImage, NoticesAMissingEndBelowTheRegion) {
  const auto whole = encode(".jpg", noise(200, 200));
  const std::vector<uint8_t> cut(whole.begin(), whole.begin() + static_cast<int64_t>(whole.size()) / 2);
  cv::Mat memory;
  const auto top = [](cv::Size size) { return cv::Rect(0, 0, size.width, 8); };
  EXPECT_THROW(decode_image(cut, Exif::kIgnore, top, memory), Error);
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
    if (count % 10 == 0) expect_every_region_as_in_the_whole(bytes, entry.path().filename().string());
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

  resize_window(rgb(cv::Rect(40, 0, 40, 40)), {40, 0, 40, 40, 16, 16}, 16, scratch, out.data);
  EXPECT_EQ(cv::norm(out, cv::Mat(16, 16, CV_8UC3, cv::Scalar(50, 60, 70)), cv::NORM_INF), 0);

  resize_window(rgb, {0, 0, 80, 80, 40, 40, 2, 22}, 16, scratch, out.data);  // inside the lower left quarter
  EXPECT_EQ(cv::norm(out, cv::Mat(16, 16, CV_8UC3, cv::Scalar(90, 100, 110)), cv::NORM_INF), 0);
}

TEST(ResizeWindow, AveragesAreasWhenShrinkingAndInterpolatesOtherwise) {
  EXPECT_EQ(opencv_interpolation({0, 0, 100, 100, 50, 50}), cv::INTER_AREA);
  EXPECT_EQ(opencv_interpolation({0, 0, 20, 20, 50, 50}), cv::INTER_LINEAR);
  EXPECT_EQ(opencv_interpolation({0, 0, 100, 20, 50, 50}), cv::INTER_LINEAR);
}

struct FastAndExact {
  cv::Size decoded;
  cv::Mat fast, exact;
};

FastAndExact decode_both_ways(std::span<const uint8_t> bytes, const CropPlan& plan) {
  cv::Mat memory;
  const ScaledPart part = decode_jpeg_fast(
      bytes, [&](cv::Size) { return plan; }, memory);
  const int size = plan.resized_width;
  FastAndExact both{part.pixels.size(), cv::Mat(size, size, CV_8UC3), cv::Mat(size, size, CV_8UC3)};
  AntialiasedResize resize;
  resize(part.pixels, part.part, plan, size, both.fast.data);
  cv::Mat other_memory;
  const auto region_of = [&](cv::Size) { return cv::Rect(plan.x, plan.y, plan.width, plan.height); };
  resize(decode_jpeg(bytes, region_of, other_memory), plan, size, both.exact.data);
  return both;
}

TEST(DecodeJpegFast, ShrinksAsFarAsTheCropAllows) {
  const auto bytes = encode(".jpg", gradient(500, 400));
  for (const auto& [plan, decoded] : {std::pair{CropPlan{13, 21, 400, 330, 224, 224}, cv::Size(400, 330)},
                                      {CropPlan{13, 21, 401, 300, 150, 150}, cv::Size(201, 151)},
                                      {CropPlan{0, 0, 500, 400, 100, 100}, cv::Size(125, 100)},
                                      {CropPlan{101, 77, 300, 299, 32, 32}, cv::Size(39, 38)}}) {
    const FastAndExact both = decode_both_ways(bytes, plan);
    EXPECT_EQ(both.decoded, decoded);
    EXPECT_LE(cv::norm(both.fast, both.exact, cv::NORM_INF), 4) << plan.width;
    EXPECT_LE(cv::norm(both.fast, both.exact, cv::NORM_L2) / std::sqrt(3.0 * both.exact.total()), 1)
        << plan.width;
  }
}

TEST(DecodeJpegFast, IsExactWhereNothingIsShrunkOrInterpolated) {
  cv::Mat gray;
  cv::cvtColor(noise(120, 90), gray, cv::COLOR_BGR2GRAY);
  const FastAndExact both = decode_both_ways(encode(".jpg", gray), {7, 5, 100, 80, 64, 64});
  EXPECT_EQ(cv::norm(both.fast, both.exact, cv::NORM_INF), 0);
}

TEST(DecodeJpegFast, StaysNearTheExactPixelsOfPhotographs) {
  const auto folder = test::shared_data("imagenet-sample");
  if (folder.empty()) GTEST_SKIP() << "the photographs of ../shared/data/imagenet-sample are not here";
  double squares = 0;
  double worst = 0;
  int count = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    std::vector<uint8_t> bytes;
    read_file(entry.path().string(), bytes);
    if (!is_jpeg(bytes)) continue;
    const cv::Size size = decode(bytes).size();
    Random random(3, Draw::kCrop, 1, count);
    const CropPlan plan = random_resized_crop(size.width, size.height, 224, random);
    const FastAndExact both = decode_both_ways(bytes, plan);
    const double rms = cv::norm(both.fast, both.exact, cv::NORM_L2) / std::sqrt(3.0 * both.exact.total());
    squares += rms * rms;
    worst = std::max(worst, rms);
    ++count;
  }
  const double all = std::sqrt(squares / count);
  std::cout << "RMS " << all << " of 255, of the worst photograph " << worst << '\n';
  EXPECT_LE(all, 2);
  EXPECT_LE(worst, 6);
}

TEST(DecodeJpegFast, NoticesAMissingEnd) {
  const auto whole = encode(".jpg", noise(200, 200));
  cv::Mat memory;
  const auto top = [](cv::Size size) { return CropPlan{0, 0, size.width, 40, 20, 20}; };
  EXPECT_THROW(decode_jpeg_fast(std::span(whole).first(whole.size() / 2), top, memory), Error);
}

}  // namespace
}  // namespace slipstream
