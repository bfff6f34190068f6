#pragma once

#include <cstdint>
#include <functional>
#include <opencv2/core/mat.hpp>
#include <span>

#include "data/crop_plan.h"
#include "data/decode.h"

namespace slipstream {

bool is_jpeg(std::span<const uint8_t> bytes);

/// Whether the bytes end with the end-of-image marker, but for a few of padding: a truncated file doesn't.
bool ends_as_jpeg(std::span<const uint8_t> bytes);

/// How a JPEG stores colour.
enum class JpegColour {
  kGray,
  kFullChroma,        ///< YCbCr, 4:4:4
  kSubsampledChroma,  ///< YCbCr with fewer samples of Cb or Cr
  kOther,             ///< RGB, CMYK and the like, or a header that can't be read
};

/// By libjpeg's rules: the JFIF and Adobe markers, else the components' names.
JpegColour jpeg_colour(std::span<const uint8_t> bytes);

/// Decodes the part of a baseline or progressive JPEG of any colour space that `region_of` names to RGB
/// (CV_8UC3) with libjpeg: exact integer IDCT and interpolated chroma, as Pillow does. CMYK and YCCK follow
/// Adobe's inverted convention. The pixels are those of the whole image's decoding, to the bit; what lies
/// below the region isn't read and what lies beside it isn't transformed.
///
/// Returns a view of `memory`, which is reused if it fits. Throws Error with the reason but no path: a
/// truncated file is an error, stray bytes between markers are not.
cv::Mat decode_jpeg(std::span<const uint8_t> bytes, const RegionOf& region_of, cv::Mat& memory);

/// Tells which crop is wanted, given the image's size.
using PlanOf = std::function<CropPlan(cv::Size)>;

/// Where a part of an image lies in pixels that may be a scaled copy of some of it.
struct ScaledPart {
  cv::Mat pixels;
  cv::Rect2d part;
};

/// The same with less work: decodes the rectangle of the plan that `plan_of` makes for the image's size at
/// 1/2, 1/4 or 1/8 of its size, by libjpeg's scaled DCT, as far as it stays at least as large as what it is
/// resized to; chroma isn't interpolated. So pixels differ from Pillow's (docs/accuracy.md says by how much).
ScaledPart decode_jpeg_fast(std::span<const uint8_t> bytes, const PlanOf& plan_of, cv::Mat& memory);

}  // namespace slipstream
