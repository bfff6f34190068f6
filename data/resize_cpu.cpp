#include <opencv2/imgproc.hpp>

#include "data/resize.h"

namespace slipstream {

int opencv_interpolation(const CropPlan& plan) {
  const bool shrinks = plan.width >= plan.resized_width && plan.height >= plan.resized_height;
  return shrinks ? cv::INTER_AREA : cv::INTER_LINEAR;
}

void resize_window(const cv::Mat& crop, const CropPlan& plan, int size, cv::Mat& scratch, uint8_t* out) {
  cv::Mat target(size, size, CV_8UC3, out);
  const cv::Size resized(plan.resized_width, plan.resized_height);
  if (resized == target.size()) {
    cv::resize(crop, target, resized, 0, 0, opencv_interpolation(plan));
  } else {
    cv::resize(crop, scratch, resized, 0, 0, opencv_interpolation(plan));
    scratch(cv::Rect(plan.window_x, plan.window_y, size, size)).copyTo(target);
  }
}

}  // namespace slipstream
