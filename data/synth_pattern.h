#pragma once

#include <cstdint>
#include <opencv2/core/mat.hpp>

#include "data/random.h"

namespace slipstream {

/// The patterns that tell the classes of a generated data set apart (data/synth.h); `label` is in
/// [0, kSynthClasses). A data set of n classes has the first n, so the most different ones come first.
const char* pattern_name(int64_t label);

/// How much of each pixel is foreground, 0 to 1: [height, width] float32. Its place, scale and the like are
/// drawn from `random`.
cv::Mat draw_pattern(int64_t label, cv::Size size, Random& random);

}  // namespace slipstream
