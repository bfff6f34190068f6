#pragma once

#include <cstdint>
#include <opencv2/core/mat.hpp>
#include <span>

namespace slipstream {

bool is_jpeg(std::span<const uint8_t> bytes);

/// Decodes baseline or progressive JPEG of any colour space to RGB (CV_8UC3) with libjpeg: exact integer IDCT
/// and interpolated chroma, as Pillow does. CMYK and YCCK follow Adobe's inverted convention. `rgb`'s memory
/// is reused if it fits. Throws Error with the reason but no path: a truncated file is an error, stray bytes
/// between markers are not.
void decode_jpeg(std::span<const uint8_t> bytes, cv::Mat& rgb);

}  // namespace slipstream
