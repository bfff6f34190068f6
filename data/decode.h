#pragma once

#include <cstdint>
#include <opencv2/core/mat.hpp>
#include <span>

namespace slipstream {

/// Decodes a JPEG, PNG, BMP or WebP file's bytes, told apart by content, to RGB (CV_8UC3) on the calling
/// thread. Alpha is dropped, EXIF orientation ignored, as torchvision's ImageFolder does. `rgb`'s memory is
/// reused if it fits. Throws Error with the reason but no path.
void decode_image(std::span<const uint8_t> bytes, cv::Mat& rgb);

}  // namespace slipstream
