#pragma once

#include <cstdint>

#include "data/antialias_filter.h"

namespace slipstream {

/// An image on its way into a batch: where its crop lies and what becomes of it, as CropPlan has it.
struct FusedImage {
  const uint8_t* crop;  ///< RGB, interleaved, on the device
  int pitch;            ///< bytes from row to row
  int width, height;
  int resized_width, resized_height;
  int window_x, window_y;
  bool flip;
  Interpolation interpolation;
};

/// Output rows that share the narrowing of source rows.
inline constexpr int kStripRows = 28;

/// What one thread does: column `x` of output rows [first, end), each pixel given to store(y, channel,
/// value).
///
/// Source rows are narrowed to the column once, rounded to 8 bits, and kept in `ring` while an output needs
/// them. column_weights: as AntialiasFilter::weigh writes them for window_x + x; row_weights: those of row
/// `first`, then of the others, `row_taps` apart. ring: row_taps elements, an RGB pixel in each. Elements of
/// column_weights and of ring lie `step` apart.
template <typename Store>
SLIPSTREAM_HOST_DEVICE void resample_column(const FusedImage& image, int x, int first, int end,
                                            const int32_t* column_weights, const int32_t* row_weights,
                                            uint32_t* ring, int step, Store store) {
  const AntialiasFilter columns(image.width, image.resized_width, image.interpolation);
  const AntialiasFilter rows(image.height, image.resized_height, image.interpolation);
  const int row_taps = rows.most_taps();
  const int left = columns.begin(image.window_x + x);
  const int taps = columns.end(image.window_x + x) - left;
  const int ring_end = row_taps * step;
  const auto next = [&](int place) { return place + step == ring_end ? 0 : place + step; };

  int narrowed = rows.begin(image.window_y + first);  // source rows before this one are in the ring
  int narrowed_place = 0;
  int oldest = narrowed;  // of the rows in the ring that an output may still need
  int oldest_place = 0;
  for (int y = first; y < end; ++y) {
    const int top = rows.begin(image.window_y + y);
    const int bottom = rows.end(image.window_y + y);
    for (; oldest < top; ++oldest) oldest_place = next(oldest_place);
    if (narrowed < top) {
      narrowed = top;
      narrowed_place = oldest_place;
    }
    for (; narrowed < bottom; ++narrowed, narrowed_place = next(narrowed_place)) {
      const uint8_t* pixel = image.crop + static_cast<int64_t>(narrowed) * image.pitch + 3 * left;
      int32_t sums[3] = {kHalfPixel, kHalfPixel, kHalfPixel};
      for (int tap = 0; tap < taps; ++tap, pixel += 3) {
        const int32_t weight = column_weights[tap * step];
        for (int c = 0; c < 3; ++c) sums[c] += weight * pixel[c];
      }
      ring[narrowed_place] = static_cast<uint32_t>(to_pixel(sums[0])) |
                             static_cast<uint32_t>(to_pixel(sums[1])) << 8 |
                             static_cast<uint32_t>(to_pixel(sums[2])) << 16;
    }
    const int32_t* weight = row_weights + (y - first) * row_taps;
    int32_t sums[3] = {kHalfPixel, kHalfPixel, kHalfPixel};
    int place = oldest_place;
    for (int row = top; row < bottom; ++row, ++weight, place = next(place)) {
      const uint32_t pixel = ring[place];
      for (int c = 0; c < 3; ++c) sums[c] += *weight * static_cast<int32_t>(pixel >> (8 * c) & 0xFF);
    }
    for (int c = 0; c < 3; ++c) store(y, c, to_pixel(sums[c]));
  }
}

}  // namespace slipstream
