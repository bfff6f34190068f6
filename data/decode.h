#pragma once

#include <cstdint>
#include <functional>
#include <opencv2/core/mat.hpp>
#include <span>

#include "data/exif_policy.h"

namespace slipstream {

/// Tells which part of an image is wanted, given the image's size.
using RegionOf = std::function<cv::Rect(cv::Size)>;

inline cv::Rect whole_image(cv::Size size) { return {{0, 0}, size}; }

/// Decodes the part that `region_of` names of a JPEG, PNG, BMP or WebP file's bytes, told apart by content,
/// to RGB (CV_8UC3) on the calling thread. Alpha is dropped. Where EXIF applies, size and region are those of
/// the turned image. Returns a view of `memory`, which is reused if it fits, or an image of its own. Throws
/// Error with the reason but no path.
cv::Mat decode_image(std::span<const uint8_t> bytes, Exif exif, const RegionOf& region_of, cv::Mat& memory);

}  // namespace slipstream
