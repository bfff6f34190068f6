#pragma once

#include <cstdint>
#include <opencv2/core/mat.hpp>
#include <span>

#include "data/decode.h"

namespace slipstream {

bool is_jpeg(std::span<const uint8_t> bytes);

/// Whether the bytes end with the end-of-image marker, but for a few of padding: a truncated file doesn't.
bool ends_as_jpeg(std::span<const uint8_t> bytes);

/// Decodes the part of a baseline or progressive JPEG of any colour space that `region_of` names to RGB
/// (CV_8UC3) with libjpeg: exact integer IDCT and interpolated chroma, as Pillow does. CMYK and YCCK follow
/// Adobe's inverted convention. The pixels are those of the whole image's decoding, to the bit; what lies
/// below the region isn't read and what lies beside it isn't transformed.
///
/// Returns a view of `memory`, which is reused if it fits. Throws Error with the reason but no path: a
/// truncated file is an error, stray bytes between markers are not.
cv::Mat decode_jpeg(std::span<const uint8_t> bytes, const RegionOf& region_of, cv::Mat& memory);

}  // namespace slipstream
