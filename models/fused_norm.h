#pragma once

#include "models/norm_kernels.h"
#include "models/norm_layers.h"

namespace slipstream {

// The training layers of models/norm_layers.h as autograd functions over a device's kernels, which take their
// inputs. Gradients of gradients are not defined.

at::Tensor fused_norm_relu(const NormKernels& kernels, const Branch& main);
Twice fused_norm_add_relu(const NormKernels& kernels, const Branch& main, const Branch& around);
Twice fused_norm_relu_max_pool(const NormKernels& kernels, const Branch& main);

}  // namespace slipstream
