#include "data/antialias.h"

#include <algorithm>

namespace slipstream {
namespace {

// [[gnu::always_inline]] lets the compiler build each loop twice, for any processor and for one with AVX2.
[[gnu::always_inline]] inline void narrow_row_with(const uint8_t* in, const AxisTaps& taps, int outputs,
                                                   uint8_t* out) {
  const int32_t* weights = taps.weights.data();
  for (int x = 0; x < outputs; ++x, weights += taps.stride, out += 3) {
    const uint8_t* pixel = in + 3 * taps.begin[x];
    const int count = taps.count[x];
    int32_t red = kHalfPixel;
    int32_t green = kHalfPixel;
    int32_t blue = kHalfPixel;
    for (int tap = 0; tap < count; ++tap, pixel += 3) {
      red += weights[tap] * pixel[0];
      green += weights[tap] * pixel[1];
      blue += weights[tap] * pixel[2];
    }
    out[0] = to_pixel(red);
    out[1] = to_pixel(green);
    out[2] = to_pixel(blue);
  }
}

// One output row of `bytes` bytes from `count` rows that lie one behind the other.
[[gnu::always_inline]] inline void blend_rows_with(const uint8_t* rows, const int32_t* weights, int count,
                                                   int bytes, uint8_t* out) {
  constexpr int kBlock = 64;  // sums that fit the registers
  int x = 0;
  for (; x + kBlock <= bytes; x += kBlock) {
    int32_t sums[kBlock];
    std::fill(sums, sums + kBlock, kHalfPixel);
    const uint8_t* row = rows + x;
    for (int tap = 0; tap < count; ++tap, row += bytes) {
      for (int i = 0; i < kBlock; ++i) sums[i] += weights[tap] * row[i];
    }
    for (int i = 0; i < kBlock; ++i) out[x + i] = to_pixel(sums[i]);
  }
  for (; x < bytes; ++x) {
    int32_t sum = kHalfPixel;
    for (int tap = 0; tap < count; ++tap) sum += weights[tap] * rows[tap * bytes + x];
    out[x] = to_pixel(sum);
  }
}

struct Loops {
  void (*narrow_row)(const uint8_t* in, const AxisTaps& taps, int outputs, uint8_t* out);
  void (*blend_rows)(const uint8_t* rows, const int32_t* weights, int count, int bytes, uint8_t* out);
};

void narrow_row(const uint8_t* in, const AxisTaps& taps, int outputs, uint8_t* out) {
  narrow_row_with(in, taps, outputs, out);
}
void blend_rows(const uint8_t* rows, const int32_t* weights, int count, int bytes, uint8_t* out) {
  blend_rows_with(rows, weights, count, bytes, out);
}

#if defined(__x86_64__)
[[gnu::target("avx2")]] void narrow_row_avx2(const uint8_t* in, const AxisTaps& taps, int outputs,
                                             uint8_t* out) {
  narrow_row_with(in, taps, outputs, out);
}
[[gnu::target("avx2")]] void blend_rows_avx2(const uint8_t* rows, const int32_t* weights, int count,
                                             int bytes, uint8_t* out) {
  blend_rows_with(rows, weights, count, bytes, out);
}
Loops fastest_loops() {
  if (__builtin_cpu_supports("avx2")) return {narrow_row_avx2, blend_rows_avx2};
  return {narrow_row, blend_rows};
}
#else
Loops fastest_loops() { return {narrow_row, blend_rows}; }
#endif

}  // namespace

void find_taps(const AntialiasFilter& filter, int first, int outputs, AxisTaps& taps) {
  taps.stride = filter.most_taps();
  taps.begin.resize(outputs);
  taps.count.resize(outputs);
  taps.weights.assign(static_cast<size_t>(outputs) * taps.stride, 0);
  for (int i = 0; i < outputs; ++i) {
    taps.begin[i] = filter.begin(first + i);
    taps.count[i] = filter.end(first + i) - taps.begin[i];
    filter.weigh(first + i, &taps.weights[static_cast<size_t>(i) * taps.stride], 1);
  }
}

void AntialiasedResize::operator()(const cv::Mat& pixels, const cv::Rect2d& box, const CropPlan& plan,
                                   int size, uint8_t* out) {
  static const Loops loops = fastest_loops();
  const AntialiasFilter columns(pixels.cols, box.x, box.width, plan.resized_width, plan.interpolation);
  const AntialiasFilter rows(pixels.rows, box.y, box.height, plan.resized_height, plan.interpolation);
  find_taps(columns, plan.window_x, size, columns_);
  find_taps(rows, plan.window_y, size, rows_);
  const int first_row = rows_.begin.front();
  const int end_row = rows_.begin.back() + rows_.count.back();
  const int bytes = 3 * size;
  narrowed_.resize(static_cast<size_t>(end_row - first_row) * bytes);
  for (int y = first_row; y < end_row; ++y) {
    loops.narrow_row(pixels.ptr(y), columns_, size, &narrowed_[static_cast<size_t>(y - first_row) * bytes]);
  }
  for (int y = 0; y < size; ++y) {
    loops.blend_rows(&narrowed_[static_cast<size_t>(rows_.begin[y] - first_row) * bytes],
                     &rows_.weights[static_cast<size_t>(y) * rows_.stride], rows_.count[y], bytes,
                     out + static_cast<size_t>(y) * bytes);
  }
}

void AntialiasedResize::operator()(const cv::Mat& crop, const CropPlan& plan, int size, uint8_t* out) {
  (*this)(crop, cv::Rect2d(0, 0, crop.cols, crop.rows), plan, size, out);
}

}  // namespace slipstream
