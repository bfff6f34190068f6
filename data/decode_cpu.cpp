#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include "data/decode.h"
#include "data/error.h"
#include "data/exif.h"
#include "data/jpeg.h"

namespace slipstream {

namespace {

cv::Mat decode_as_stored(std::span<const uint8_t> bytes, const RegionOf& region_of, cv::Mat& memory) {
  if (is_jpeg(bytes)) return decode_jpeg(bytes, region_of, memory);

  const cv::Mat encoded(1, static_cast<int>(bytes.size()), CV_8UC1, const_cast<uint8_t*>(bytes.data()));
  try {
    // Into a new image: the overload that reuses memory leaves the last image there when it fails.
    memory = cv::imdecode(encoded, cv::IMREAD_COLOR | cv::IMREAD_IGNORE_ORIENTATION);
  } catch (const cv::Exception& exception) {
    throw Error("OpenCV can't decode it: " + exception.err);
  }
  if (memory.empty()) throw Error("it is no whole JPEG, PNG, BMP or WebP image");
  cv::Mat region = memory(region_of(memory.size()));
  cv::cvtColor(region, region, cv::COLOR_BGR2RGB);
  return region;
}

}  // namespace

cv::Mat decode_image(std::span<const uint8_t> bytes, Exif exif, const RegionOf& region_of, cv::Mat& memory) {
  if (bytes.empty()) throw Error("the file is empty");
  const Orientation orientation = exif == Exif::kApply ? exif_orientation(bytes) : Orientation{};
  if (orientation.as_stored()) return decode_as_stored(bytes, region_of, memory);
  const auto stored_region_of = [&](cv::Size stored) {
    return orientation.stored_rectangle(region_of(orientation.turned(stored)), stored);
  };
  return orientation.turned(decode_as_stored(bytes, stored_region_of, memory));
}

}  // namespace slipstream
