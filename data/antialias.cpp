#include "data/antialias.h"

#include <algorithm>
#include <cmath>

namespace slipstream {
namespace {

constexpr int32_t kHalf = 1 << (kWeightBits - 1);

// The sum of pixels times weights, rounded.
inline uint8_t to_pixel(int32_t sum) { return static_cast<uint8_t>(std::clamp(sum >> kWeightBits, 0, 255)); }

// [[gnu::always_inline]] lets the compiler build each loop twice, for any processor and for one with AVX2.
[[gnu::always_inline]] inline void narrow_row_with(const uint8_t* in, const AxisTaps& taps, int outputs,
                                                   uint8_t* out) {
  const int32_t* weights = taps.weights.data();
  for (int x = 0; x < outputs; ++x, weights += taps.stride, out += 3) {
    const uint8_t* pixel = in + 3 * taps.begin[x];
    const int count = taps.count[x];
    int32_t red = kHalf;
    int32_t green = kHalf;
    int32_t blue = kHalf;
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
    std::fill(sums, sums + kBlock, kHalf);
    const uint8_t* row = rows + x;
    for (int tap = 0; tap < count; ++tap, row += bytes) {
      for (int i = 0; i < kBlock; ++i) sums[i] += weights[tap] * row[i];
    }
    for (int i = 0; i < kBlock; ++i) out[x + i] = to_pixel(sums[i]);
  }
  for (; x < bytes; ++x) {
    int32_t sum = kHalf;
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

void find_taps(int in, int resized, int first, int outputs, AxisTaps& taps) {
  const double scale = static_cast<double>(in) / resized;
  const double support = std::max(scale, 1.0);  // half the triangle's width, in source pixels
  taps.stride = 2 * static_cast<int>(std::ceil(support)) + 1;
  taps.begin.resize(outputs);
  taps.count.resize(outputs);
  taps.weights.assign(static_cast<size_t>(outputs) * taps.stride, 0);
  std::vector<double> exact(taps.stride);
  const double per_pixel = 1.0 / support;
  for (int i = 0; i < outputs; ++i) {
    const double centre = (first + i + 0.5) * scale;
    const int begin = std::max(0, static_cast<int>(centre - support + 0.5));
    const int end = std::min(in, static_cast<int>(centre + support + 0.5));
    double sum = 0;
    for (int x = begin; x < end; ++x) {
      const double weight = std::max(0.0, 1.0 - std::abs((x - centre + 0.5) * per_pixel));
      exact[x - begin] = weight;
      sum += weight;
    }
    taps.begin[i] = begin;
    taps.count[i] = end - begin;
    for (int tap = 0; tap < end - begin; ++tap) {
      const double share = sum != 0 ? exact[tap] / sum : exact[tap];
      taps.weights[static_cast<size_t>(i) * taps.stride + tap] =
          static_cast<int32_t>(0.5 + share * (1 << kWeightBits));
    }
  }
}

void AntialiasedResize::operator()(const cv::Mat& crop, const CropPlan& plan, int size, uint8_t* out) {
  static const Loops loops = fastest_loops();
  find_taps(plan.width, plan.resized_width, plan.window_x, size, columns_);
  find_taps(plan.height, plan.resized_height, plan.window_y, size, rows_);
  const int first_row = rows_.begin.front();
  const int end_row = rows_.begin.back() + rows_.count.back();
  const int bytes = 3 * size;
  narrowed_.resize(static_cast<size_t>(end_row - first_row) * bytes);
  for (int y = first_row; y < end_row; ++y) {
    loops.narrow_row(crop.ptr(y), columns_, size, &narrowed_[static_cast<size_t>(y - first_row) * bytes]);
  }
  for (int y = 0; y < size; ++y) {
    loops.blend_rows(&narrowed_[static_cast<size_t>(rows_.begin[y] - first_row) * bytes],
                     &rows_.weights[static_cast<size_t>(y) * rows_.stride], rows_.count[y], bytes,
                     out + static_cast<size_t>(y) * bytes);
  }
}

}  // namespace slipstream
