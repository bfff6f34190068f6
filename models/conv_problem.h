#pragma once

#include <c10/core/ScalarType.h>

#include <array>
#include <compare>
#include <cstdint>
#include <string>

namespace slipstream {

/// What a convolution's kernel computes.
enum class ConvPass { kForward, kForwardWithSums, kDataGradient, kWeightGradient };

/// One pass of a convolution, with all that its kernels depend on but the device.
struct ConvProblem {
  ConvPass pass;
  c10::ScalarType type;           ///< float16 or bfloat16
  std::array<int64_t, 4> x;       ///< N, C, H, W
  std::array<int64_t, 4> weight;  ///< K, C, k, k
  int64_t stride, padding;

  auto operator<=>(const ConvProblem&) const = default;

  /// N, K and the output's height and width.
  std::array<int64_t, 4> y() const;

  /// For people: "forward, fp16, x 256x64x56x56, weight 64x64x3x3, stride 1, padding 1".
  std::string name() const;
};

}  // namespace slipstream
