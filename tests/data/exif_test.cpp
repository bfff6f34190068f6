#include "data/exif.h"

#include <gtest/gtest.h>

#include <opencv2/core.hpp>
#include <vector>

namespace slipstream {
namespace {

using Bytes = std::vector<uint8_t>;

/// A JPEG's begin whose EXIF directory has one entry, the orientation.
Bytes jpeg_with_orientation(uint8_t value, bool big_endian) {
  Bytes tiff = big_endian
                   ? Bytes{'M', 'M', 0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, value, 0, 0}
                   : Bytes{'I', 'I', 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 0x01, 3, 0, 1, 0, 0, 0, value, 0, 0, 0};
  Bytes bytes = {0xFF, 0xD8, 0xFF, 0xE0, 0, 4, 'J', 'F'};  // another segment first
  const auto length = static_cast<uint8_t>(2 + 6 + tiff.size());
  bytes.insert(bytes.end(), {0xFF, 0xE1, 0, length, 'E', 'x', 'i', 'f', 0, 0});
  bytes.insert(bytes.end(), tiff.begin(), tiff.end());
  bytes.insert(bytes.end(), {0xFF, 0xDA, 0, 2});
  return bytes;
}

TEST(ExifOrientation, IsReadInBothByteOrders) {
  for (const bool big_endian : {false, true}) {
    const Orientation six = exif_orientation(jpeg_with_orientation(6, big_endian));
    EXPECT_TRUE(six.transpose && six.flip_y && !six.flip_x);
    EXPECT_TRUE(exif_orientation(jpeg_with_orientation(1, big_endian)).as_stored());
    EXPECT_TRUE(exif_orientation(jpeg_with_orientation(9, big_endian)).as_stored());
  }
}

TEST(ExifOrientation, IsAsStoredWhereTheBytesEndOrLie) {
  const Bytes whole = jpeg_with_orientation(6, false);
  const auto value_at = static_cast<size_t>(8 + 10 + 18);
  for (size_t length = 0; length < whole.size(); ++length) {
    const bool has_value = length > value_at + 1;
    EXPECT_EQ(exif_orientation(std::span(whole).first(length)).as_stored(), !has_value) << length;
  }
  Bytes far = whole;
  far[8 + 10 + 4 + 3] = 0xFF;  // the directory lies beyond the end
  EXPECT_TRUE(exif_orientation(far).as_stored());
  EXPECT_TRUE(
      exif_orientation(Bytes{0x89, 'P', 'N', 'G', 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 'a'}).as_stored());
  EXPECT_TRUE(exif_orientation(Bytes{'R', 'I', 'F', 'F'}).as_stored());
}

TEST(Orientation, FindsWhereATurnedRectangleIsStored) {
  cv::Mat image(4, 6, CV_8UC1);
  for (int i = 0; i < 24; ++i) image.data[i] = static_cast<uint8_t>(i);
  for (int bits = 0; bits < 8; ++bits) {
    const Orientation orientation{(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0};
    const cv::Mat turned = orientation.turned(image);
    ASSERT_EQ(turned.size(), orientation.turned(image.size()));
    const cv::Rect part(1, 2, 2, 1);
    const cv::Mat of_part = orientation.turned(image(orientation.stored_rectangle(part, image.size())));
    EXPECT_EQ(cv::norm(of_part, turned(part), cv::NORM_INF), 0) << bits;
  }
}

}  // namespace
}  // namespace slipstream
