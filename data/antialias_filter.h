#pragma once

#include <cstdint>

// Arithmetic that the CPU and CUDA kernels share.
#ifdef __CUDACC__
#define SLIPSTREAM_HOST_DEVICE __host__ __device__
#else
#define SLIPSTREAM_HOST_DEVICE
#endif

namespace slipstream {

/// Weights are fixed-point numbers with so many bits behind the point.
inline constexpr int kWeightBits = 22;
inline constexpr int32_t kHalfPixel = 1 << (kWeightBits - 1);  // added to a sum, to round it

/// Pillow's antialiased bilinear filter along one axis (its Resample.c): a triangle that is one output pixel
/// wide to each side, or one source pixel where the axis grows. Compile it without contraction to fused
/// multiply-adds, and every machine has the same weights.
struct AntialiasFilter {
  int in;          ///< source pixels
  double scale;    ///< source pixels an output
  double support;  ///< half the triangle's width, in source pixels

  SLIPSTREAM_HOST_DEVICE AntialiasFilter(int in_pixels, int resized)
      : in(in_pixels), scale(static_cast<double>(in_pixels) / resized), support(scale < 1 ? 1 : scale) {}

  SLIPSTREAM_HOST_DEVICE double centre(int output) const { return (output + 0.5) * scale; }

  /// The first source pixel that makes an output, and the one behind the last.
  SLIPSTREAM_HOST_DEVICE int begin(int output) const {
    const int first = static_cast<int>(centre(output) - support + 0.5);
    return first < 0 ? 0 : first;
  }
  SLIPSTREAM_HOST_DEVICE int end(int output) const {
    const int last = static_cast<int>(centre(output) + support + 0.5);
    return last > in ? in : last;
  }

  /// No output has more taps.
  SLIPSTREAM_HOST_DEVICE int most_taps() const {
    const int whole = static_cast<int>(support);
    return 2 * (whole < support ? whole + 1 : whole) + 1;
  }

  /// Writes the weights of begin(output) to end(output) to weights[0], weights[step], ...
  SLIPSTREAM_HOST_DEVICE void weigh(int output, int32_t* weights, int step) const {
    const int first = begin(output);
    const int last = end(output);
    double sum = 0;
    for (int x = first; x < last; ++x) sum += height(output, x);
    for (int x = first; x < last; ++x) {
      const double share = sum != 0 ? height(output, x) / sum : 0;
      weights[(x - first) * step] = static_cast<int32_t>(0.5 + share * (1 << kWeightBits));
    }
  }

 private:
  SLIPSTREAM_HOST_DEVICE double height(int output, int x) const {
    const double away = (x - centre(output) + 0.5) * (1.0 / support);
    const double under = 1.0 - (away < 0 ? -away : away);
    return under > 0 ? under : 0;
  }
};

/// A sum of pixels times weights, begun with kHalfPixel, as a pixel.
SLIPSTREAM_HOST_DEVICE inline uint8_t to_pixel(int32_t sum) {
  const int value = sum >> kWeightBits;
  return static_cast<uint8_t>(value < 0 ? 0 : value > 255 ? 255 : value);
}

}  // namespace slipstream
