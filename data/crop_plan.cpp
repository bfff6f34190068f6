#include "data/crop_plan.h"

#include <algorithm>
#include <cmath>

namespace slipstream {
namespace {

// Python's round() and the default rounding mode both go to even at one half.
int round_to_even(double value) { return static_cast<int>(std::nearbyint(value)); }

CropPlan whole_window(int x, int y, int width, int height, int size) {
  return {x, y, width, height, size, size, 0, 0, false};
}

CropPlan clamped_centre(int width, int height, int size) {
  const double aspect = static_cast<double>(width) / height;
  int crop_width = width;
  int crop_height = height;
  if (aspect < 3.0 / 4) {
    crop_height = round_to_even(width / (3.0 / 4));
  } else if (aspect > 4.0 / 3) {
    crop_width = round_to_even(height * (4.0 / 3));
  }
  return whole_window((width - crop_width) / 2, (height - crop_height) / 2, crop_width, crop_height, size);
}

CropPlan random_rectangle(int width, int height, int size, Random& random) {
  const double area = static_cast<double>(width) * height;
  for (int attempt = 0; attempt < 10; ++attempt) {
    const double target = area * random.uniform(0.08, 1.0);
    const double aspect = std::exp(random.uniform(std::log(3.0 / 4), std::log(4.0 / 3)));
    const int crop_width = round_to_even(std::sqrt(target * aspect));
    const int crop_height = round_to_even(std::sqrt(target / aspect));
    if (crop_width > 0 && crop_width <= width && crop_height > 0 && crop_height <= height) {
      const int y = static_cast<int>(random.below(height - crop_height + 1));
      const int x = static_cast<int>(random.below(width - crop_width + 1));
      return whole_window(x, y, crop_width, crop_height, size);
    }
  }
  return clamped_centre(width, height, size);
}

}  // namespace

CropPlan random_resized_crop(int width, int height, int size, Random& random) {
  CropPlan plan = random_rectangle(width, height, size, random);
  plan.flip = random.uniform() < 0.5;
  return plan;
}

CropPlan centre_crop(int width, int height, int resize, int size, Interpolation interpolation) {
  CropPlan plan{0, 0, width, height, resize, resize};
  plan.interpolation = interpolation;
  if (width <= height) {
    plan.resized_height = static_cast<int>(static_cast<int64_t>(resize) * height / width);
  } else {
    plan.resized_width = static_cast<int>(static_cast<int64_t>(resize) * width / height);
  }
  plan.window_x = round_to_even((plan.resized_width - size) / 2.0);
  plan.window_y = round_to_even((plan.resized_height - size) / 2.0);
  return plan;
}

}  // namespace slipstream
