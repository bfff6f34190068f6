#pragma once

#include <cstdint>
#include <opencv2/core/mat.hpp>
#include <span>

#include "data/exif_policy.h"

namespace slipstream {

/// How a stored image is to be turned for the eye: flipped along its own axes, then transposed.
struct Orientation {
  bool flip_x = false, flip_y = false, transpose = false;

  bool as_stored() const { return !flip_x && !flip_y && !transpose; }
  cv::Size turned(cv::Size stored) const;
  /// The stored rectangle that shows as `turned` of an image of the stored size.
  cv::Rect stored_rectangle(cv::Rect turned, cv::Size stored) const;
  cv::Mat turned(const cv::Mat& stored) const;
};

/// The orientation that the EXIF data of a JPEG, PNG or WebP file asks for: tag 0x0112 of the first
/// directory. As stored where there is none or it can't be read.
Orientation exif_orientation(std::span<const uint8_t> bytes);

}  // namespace slipstream
