#include "data/exif.h"

#include <algorithm>
#include <cstring>
#include <opencv2/core.hpp>
#include <optional>
#include <string_view>

namespace slipstream {
namespace {

using Bytes = std::span<const uint8_t>;

bool begins_with(Bytes bytes, std::string_view text) {
  return bytes.size() >= text.size() && std::memcmp(bytes.data(), text.data(), text.size()) == 0;
}

/// Reads numbers of a file's byte order; beyond the end there are none.
class Reader {
 public:
  Reader(Bytes bytes, bool big_endian) : bytes_(bytes), big_endian_(big_endian) {}

  std::optional<uint32_t> number(size_t at, size_t size) const {
    if (at > bytes_.size() || bytes_.size() - at < size) return std::nullopt;
    uint32_t value = 0;
    for (size_t i = 0; i < size; ++i) value = value << 8 | bytes_[at + (big_endian_ ? i : size - 1 - i)];
    return value;
  }

 private:
  Bytes bytes_;
  bool big_endian_;
};

Bytes tail(Bytes bytes, size_t at) { return at < bytes.size() ? bytes.subspan(at) : Bytes{}; }

// Segments FF xx, two bytes of length that count themselves, contents; the image's data begins at SOS.
Bytes exif_of_jpeg(Bytes bytes) {
  constexpr uint8_t kApp1 = 0xE1;
  constexpr uint8_t kStartOfScan = 0xDA;
  const Reader reader(bytes, /*big_endian=*/true);
  size_t at = 2;
  while (at + 4 <= bytes.size() && bytes[at] == 0xFF) {
    const uint8_t marker = bytes[at + 1];
    const auto length = reader.number(at + 2, 2);
    if (marker == kStartOfScan || !length || *length < 2) break;
    const Bytes contents = tail(bytes, at + 4).first(std::min<size_t>(*length - 2, bytes.size() - at - 4));
    if (marker == kApp1 && begins_with(contents, {"Exif\0\0", 6})) return contents.subspan(6);
    at += 2 + *length;
  }
  return {};
}

// Chunks: length, four letters, contents, four bytes of checksum.
Bytes exif_of_png(Bytes bytes) {
  const Reader reader(bytes, /*big_endian=*/true);
  size_t at = 8;
  while (const auto length = reader.number(at, 4)) {
    if (begins_with(tail(bytes, at + 4), "eXIf")) {
      const Bytes contents = tail(bytes, at + 8);
      return contents.first(std::min<size_t>(*length, contents.size()));
    }
    at += size_t{12} + *length;
  }
  return {};
}

// RIFF: four letters, length, contents, padded to an even length. Some writers repeat JPEG's "Exif\0\0".
Bytes exif_of_webp(Bytes bytes) {
  const Reader reader(bytes, /*big_endian=*/false);
  size_t at = 12;
  while (const auto length = reader.number(at + 4, 4)) {
    if (begins_with(tail(bytes, at), "EXIF")) {
      Bytes contents = tail(bytes, at + 8);
      contents = contents.first(std::min<size_t>(*length, contents.size()));
      return begins_with(contents, {"Exif\0\0", 6}) ? contents.subspan(6) : contents;
    }
    at += size_t{8} + *length + *length % 2;
  }
  return {};
}

// TIFF: byte order, 42, where the first directory is; it has a count, then entries of 12 bytes.
uint32_t orientation_tag(Bytes exif) {
  constexpr uint32_t kTag = 0x0112;
  constexpr uint32_t kAsStored = 1;
  if (!begins_with(exif, "II") && !begins_with(exif, "MM")) return kAsStored;
  const Reader reader(exif, exif[0] == 'M');
  const auto directory = reader.number(4, 4);
  if (!directory) return kAsStored;
  const uint32_t entries = reader.number(*directory, 2).value_or(0);
  for (size_t i = 0; i < entries; ++i) {
    const size_t entry = *directory + size_t{2} + 12 * i;
    if (reader.number(entry, 2) == kTag) return reader.number(entry + 8, 2).value_or(kAsStored);
  }
  return kAsStored;
}

}  // namespace

cv::Size Orientation::turned(cv::Size stored) const {
  return transpose ? cv::Size(stored.height, stored.width) : stored;
}

cv::Rect Orientation::stored_rectangle(cv::Rect turned, cv::Size stored) const {
  cv::Rect rectangle = turned;
  if (transpose) rectangle = {turned.y, turned.x, turned.height, turned.width};
  if (flip_x) rectangle.x = stored.width - rectangle.x - rectangle.width;
  if (flip_y) rectangle.y = stored.height - rectangle.y - rectangle.height;
  return rectangle;
}

cv::Mat Orientation::turned(const cv::Mat& stored) const {
  cv::Mat image = stored;
  if (flip_x || flip_y) {
    cv::Mat flipped;
    cv::flip(image, flipped, flip_x && flip_y ? -1 : flip_x ? 1 : 0);
    image = flipped;
  }
  if (transpose) {
    cv::Mat transposed;
    cv::transpose(image, transposed);
    image = transposed;
  }
  return image;
}

Orientation exif_orientation(std::span<const uint8_t> bytes) {
  Bytes exif;
  if (begins_with(bytes, "\xFF\xD8")) {
    exif = exif_of_jpeg(bytes);
  } else if (begins_with(bytes, "\x89PNG")) {
    exif = exif_of_png(bytes);
  } else if (begins_with(bytes, "RIFF")) {
    exif = exif_of_webp(bytes);
  }
  // The tag's values 1 to 8: as stored, mirrored, turned by 180 degrees, upside down, and the same
  // transposed.
  switch (orientation_tag(exif)) {
    case 2:
      return {.flip_x = true};
    case 3:
      return {.flip_x = true, .flip_y = true};
    case 4:
      return {.flip_y = true};
    case 5:
      return {.transpose = true};
    case 6:
      return {.flip_y = true, .transpose = true};
    case 7:
      return {.flip_x = true, .flip_y = true, .transpose = true};
    case 8:
      return {.flip_x = true, .transpose = true};
    default:
      return {};
  }
}

}  // namespace slipstream
