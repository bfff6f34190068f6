#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <utility>
#include <vector>

#include "models/norm_layers.h"

namespace slipstream::test {

/// The layers of models/norm_layers.h.
enum class NormLayer { kNormRelu, kNormAddRelu, kNormAddNormRelu, kNormReluMaxPool };
inline constexpr NormLayer kNormLayers[] = {NormLayer::kNormRelu, NormLayer::kNormAddRelu,
                                            NormLayer::kNormAddNormRelu, NormLayer::kNormReluMaxPool};

/// A layer's inputs on the CPU, drawn from `seed`: x and `around` channels_last in `type`, with means far
/// from 0 beside their deviations; norms float32; a gradient for each of the output's two readers. It is 0
/// wherever rounding could decide whether the ReLU passes or which input is a window's largest; equal inputs
/// of a window stay.
struct NormCase {
  NormLayer layer;
  at::Tensor x, around;
  BatchNorm norm, around_norm;
  at::Tensor first_gradient, second_gradient;  ///< an undefined one: that reader has none
};
NormCase norm_case(NormLayer layer, at::IntArrayRef sizes, at::ScalarType type, uint64_t seed);

/// Output, gradients and running statistics of a training pass, by name.
using NormResults = std::vector<std::pair<std::string, at::Tensor>>;

/// A training pass of the layer and its gradients on `device`; the case stays as it is.
NormResults run_layer(const NormCase& given, c10::Device device, bool fused);

/// The same in float64 by formulas written out, from the case's values as they are.
NormResults reference(const NormCase& given);

/// The largest and the root mean square difference.
struct Distance {
  double largest, rms;
};
Distance distance(const at::Tensor& a, const at::Tensor& b);

}  // namespace slipstream::test
