#pragma once

#include "data/interpolation.h"
#include "data/random.h"

namespace slipstream {

/// Which part of an image becomes a sample, all in pixels: the source rectangle is resized to
/// resized_width x resized_height, of which a square window of the sample's size is kept.
struct CropPlan {
  int x = 0, y = 0, width = 0, height = 0;
  int resized_width = 0, resized_height = 0;
  int window_x = 0, window_y = 0;
  bool flip = false;  ///< mirror left and right, after the window was taken
  Interpolation interpolation = Interpolation::kBilinear;

  bool operator==(const CropPlan&) const = default;
};

/// Training: torchvision's RandomResizedCrop (area 8 to 100%, aspect 3/4 to 4/3 log-uniformly, ten tries,
/// then the centre with the aspect clamped) and a flip with probability one half. The window is the whole
/// result.
CropPlan random_resized_crop(int width, int height, int size, Random& random);

/// Evaluation: torchvision's Resize (short side to `resize`, long side truncated) and CenterCrop to `size`.
/// Needs size <= resize.
CropPlan centre_crop(int width, int height, int resize, int size, Interpolation interpolation);

}  // namespace slipstream
