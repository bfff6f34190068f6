#pragma once

#include <cstdint>

#include "data/interpolation.h"

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

/// Pillow's antialiased filters along one axis (its Resample.c): a triangle, or the cubic of a = -0.5 (Keys
/// 1981), stretched to the size of an output pixel where the axis shrinks. Compile it without contraction to
/// fused multiply-adds, and every machine has the same weights.
struct AntialiasFilter {
  int in;          ///< source pixels
  double origin;   ///< where in them the first output begins
  double scale;    ///< source pixels an output
  double stretch;  ///< of the filter: source pixels to its unit
  double support;  ///< half the filter's width, in source pixels
  Interpolation interpolation;

  /// Resizes the part of `length` pixels from `begins` on of `in_pixels` to `resized`.
  SLIPSTREAM_HOST_DEVICE AntialiasFilter(int in_pixels, double begins, double length, int resized,
                                         Interpolation interpolated)
      : in(in_pixels),
        origin(begins),
        scale(length / resized),
        stretch(scale < 1 ? 1 : scale),
        support((interpolated == Interpolation::kBicubic ? 2 : 1) * stretch),
        interpolation(interpolated) {}

  SLIPSTREAM_HOST_DEVICE AntialiasFilter(int in_pixels, int resized, Interpolation interpolated)
      : AntialiasFilter(in_pixels, 0, in_pixels, resized, interpolated) {}

  SLIPSTREAM_HOST_DEVICE double centre(int output) const { return origin + (output + 0.5) * scale; }

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
      weights[(x - first) * step] =
          static_cast<int32_t>((share < 0 ? -0.5 : 0.5) + share * (1 << kWeightBits));
    }
  }

 private:
  SLIPSTREAM_HOST_DEVICE double height(int output, int x) const {
    const double distance = (x - centre(output) + 0.5) * (1.0 / stretch);
    const double away = distance < 0 ? -distance : distance;
    if (interpolation == Interpolation::kBilinear) return away < 1 ? 1 - away : 0;
    constexpr double kA = -0.5;
    if (away < 1) return ((kA + 2) * away - (kA + 3)) * away * away + 1;
    return away < 2 ? (((away - 5) * away + 8) * away - 4) * kA : 0;
  }
};

/// A sum of pixels times weights, begun with kHalfPixel, as a pixel.
SLIPSTREAM_HOST_DEVICE inline uint8_t to_pixel(int32_t sum) {
  const int value = sum >> kWeightBits;
  return static_cast<uint8_t>(value < 0 ? 0 : value > 255 ? 255 : value);
}

}  // namespace slipstream
