#pragma once

#include <ATen/core/Tensor.h>

#include "models/batch_norm.h"
#include "models/convolution.h"

namespace slipstream {

/// How a layer with a norm is to work.
struct NormMode {
  bool training;  ///< the batch's statistics, which also move the running ones; else the running ones
  bool fused;     ///< one layer for norm, add and ReLU (models/fused_norm.h) wherever its kernels can
};

/// One tensor for two readers. The fused layers give each a tensor of its own over the same memory, so that
/// the two gradients come back apart and are added where they are read, not in a pass of their own.
struct Twice {
  at::Tensor first, second;
};

// Layers over x: [N, C, H, W] of any memory format. Training throws Error if N * H * W is 1: one value has no
// variance. Nothing waits for a device; work is queued on the current stream. Under autocast the type is x's.

/// relu(norm(x)).
at::Tensor norm_relu(const Convolved& x, const BatchNorm& norm, NormMode mode);

/// relu(norm(x)), then the maximum of each 3x3 window in steps of 2, padded by 1.
Twice norm_relu_max_pool(const Convolved& x, const BatchNorm& norm, NormMode mode);

/// relu(norm(x) + residual), of tensors of one size and type.
Twice norm_add_relu(const Convolved& x, const BatchNorm& norm, const at::Tensor& residual, NormMode mode);

/// relu(norm(x) + other_norm(other)): what ends a block whose shortcut is a convolution.
Twice norm_add_norm_relu(const Convolved& x, const BatchNorm& norm, const Convolved& other,
                         const BatchNorm& other_norm, NormMode mode);

}  // namespace slipstream
