#pragma once

#include <ATen/core/Tensor.h>

namespace slipstream {

/// A batch norm's parameters and state, under the rules of PyTorch's BatchNorm2d.
struct BatchNorm {
  at::Tensor weight, bias;               ///< [C]
  at::Tensor running_mean, running_var;  ///< [C]
  at::Tensor num_batches_tracked;        ///< int64 []

  /// int32 [C], zeros whenever no kernel runs: how many blocks of a running reduction have delivered. One a
  /// layer, so that layers may run side by side; not part of a state dict.
  at::Tensor arrivals;
};

inline constexpr double kNormMomentum = 0.1;  ///< of the running statistics
inline constexpr double kNormEpsilon = 1e-5;

}  // namespace slipstream
