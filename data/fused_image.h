#pragma once

#include <cstdint>

#include "data/crop_plan.h"
#include "data/fused_resize.h"

namespace slipstream {

/// A crop as the kernel takes it: the plan's rectangle begins at `crop`, with `pitch` bytes from row to row.
inline FusedImage fused_image(const uint8_t* crop, int pitch, const CropPlan& plan, bool flip) {
  return {.crop = crop,
          .pitch = pitch,
          .width = plan.width,
          .height = plan.height,
          .resized_width = plan.resized_width,
          .resized_height = plan.resized_height,
          .window_x = plan.window_x,
          .window_y = plan.window_y,
          .flip = flip,
          .interpolation = plan.interpolation};
}

}  // namespace slipstream
