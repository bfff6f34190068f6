#pragma once

#include <ATen/core/Tensor.h>

#include "models/batch_norm.h"
#include "models/norm_jobs.h"

namespace slipstream {

/// x [N, C, H, W], channels_last, as norms' kernels see it.
NormMatrix matrix_of(const at::Tensor& x);

/// Makes the means and inverse deviations of x's channels, float32 [2, C], and moves the norm's running ones;
/// of `sums` as in models/norm_kernels.h, if defined. x: dense, channels_last, on a 16-byte boundary. Queued
/// on the current stream of the current device.
void queue_statistics(const at::Tensor& x, const at::Tensor& sums, const BatchNorm& norm,
                      const at::Tensor& statistics);

}  // namespace slipstream
