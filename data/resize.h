#pragma once

#include <cstdint>
#include <opencv2/core/mat.hpp>

#include "data/crop_plan.h"

namespace slipstream {

// Resizer::kOpencv; data/antialias.h has the other.

/// OpenCV's interpolation for a plan: area averaging where both sides shrink, else bilinear. The CPU and the
/// CUDA path ask here, so that both sample alike.
int opencv_interpolation(const CropPlan& plan);

/// Writes the window of `crop` (CV_8UC3, the plan's rectangle) that the plan keeps to `out`: size x size x 3
/// bytes, owned by the caller. Unflipped. `scratch` is memory to reuse between calls of one thread.
void resize_window(const cv::Mat& crop, const CropPlan& plan, int size, cv::Mat& scratch, uint8_t* out);

}  // namespace slipstream
