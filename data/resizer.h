#pragma once

namespace slipstream {

/// Whose resizing, and so whose sampling.
enum class Resizer {
  kFused,   ///< our own: Pillow's antialiased bilinear filter to the bit, as torchvision's transforms have it
  kOpencv,  ///< cv::resize and cv::cuda::resize: area averaging where both sides shrink, else bilinear
};

}  // namespace slipstream
