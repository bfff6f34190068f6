#pragma once

#include <cstdint>
#include <opencv2/core/mat.hpp>
#include <vector>

#include "data/antialias_filter.h"
#include "data/crop_plan.h"

namespace slipstream {

/// Which source pixels make each output of one axis, and how much of each, by AntialiasFilter.
struct AxisTaps {
  std::vector<int> begin;        ///< by output: the first source pixel
  std::vector<int> count;        ///< by output: how many
  std::vector<int32_t> weights;  ///< [output * stride + tap]
  int stride = 0;
};

/// The taps of outputs `first` to `first + outputs` of an axis. `taps`'s memory is reused.
void find_taps(const AntialiasFilter& filter, int first, int outputs, AxisTaps& taps);

/// Resizes as Pillow does, bit for bit: along rows, rounded to 8 bits, then along columns. Holds memory that
/// is used again; one for each thread.
class AntialiasedResize {
 public:
  /// Resizes the plan's rectangle, which is `box` of `pixels` (CV_8UC3), and writes the window that the plan
  /// keeps to `out`: size x size x 3 bytes, owned by the caller. Unflipped. The box may be of another size
  /// than the plan's rectangle, and need not begin at a whole pixel.
  void operator()(const cv::Mat& pixels, const cv::Rect2d& box, const CropPlan& plan, int size, uint8_t* out);

  /// The same for pixels that are the plan's rectangle.
  void operator()(const cv::Mat& crop, const CropPlan& plan, int size, uint8_t* out);

 private:
  AxisTaps columns_, rows_;
  std::vector<uint8_t> narrowed_;  // the source rows that matter, at the output's width
};

}  // namespace slipstream
