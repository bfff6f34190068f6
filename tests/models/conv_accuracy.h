#pragma once

#include <ATen/core/Tensor.h>

namespace slipstream::test {

/// Normally distributed around 0, channels_last, on the GPU.
at::Tensor random_on_gpu(at::IntArrayRef sizes, double scale, at::ScalarType type);

/// Asserts that `ours` is no further from `exact` than PyTorch's: a twentieth more than theirs, and a
/// hundredth of a rounding, since another order of sums is allowed.
void expect_no_worse(const char* what, const at::Tensor& ours, const at::Tensor& theirs,
                     const at::Tensor& exact);

}  // namespace slipstream::test
