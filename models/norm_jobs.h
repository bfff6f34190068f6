#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "models/kernel_type.h"

namespace slipstream {

// What the host gives the norms' kernels. All pointers are to device memory; images are dense, channels last.
// A launch queues one kernel on `stream` and returns the launch's status.

/// Pixels as rows, channels as columns.
struct NormMatrix {
  int64_t rows;
  int channels;
  KernelType type;
  int multiprocessors;  ///< of the device: grids fill it once

  /// Channels that a thread takes together: 16 bytes of them if rows divide so, else one. Rows must then
  /// begin at multiples of 16 bytes.
  int vector() const {
    const int wide = type == KernelType::kFloat32 ? 4 : 8;
    return channels % wide == 0 ? wide : 1;
  }
};

/// A tensor and the norm over it; weight null: the tensor as it is. x null: none.
struct NormedTensor {
  const void* x = nullptr;
  const float* weight = nullptr;
  const float* bias = nullptr;
  const float* mean = nullptr;
  const float* invstd = nullptr;
};

/// What blocks of a reduction share: floats for their partial sums, reduction_floats() of them, and a counter
/// a channel, which is 0 before and after.
struct NormWorkspace {
  float* partials;
  int* arrivals;
};

/// Mean and inverse deviation of each channel; moves the running statistics (variance: the unbiased one).
struct StatisticsJob {
  NormMatrix matrix;
  const void* x;
  float* mean;
  float* invstd;
  float* running_mean;
  float* running_var;
  float momentum, epsilon;
  NormWorkspace workspace;
};
cudaError_t launch_statistics(const StatisticsJob& job, cudaStream_t stream);

/// The same of sums by channel that are known: `sums` [parts, 2, channels], of parts of x, and of their
/// squares. The job's x and workspace aren't used. Where a mean is large beside the deviation the difference
/// of the two cancels; that of a convolution's output isn't.
cudaError_t launch_statistics_of_sums(const StatisticsJob& job, const float* sums, int parts,
                                      cudaStream_t stream);

/// y = relu(main + around). `mask`, if not null and there is an `around`, gets a byte for each vector of y:
/// bit i tells whether its channel i is above 0.
struct ApplyJob {
  NormMatrix matrix;
  NormedTensor main, around;
  void* y;
  uint8_t* mask;
  bool invstd_is_variance;  ///< the norms' `invstd` are variances, to which `epsilon` is added
  float epsilon;
};
cudaError_t launch_apply(const ApplyJob& job, cudaStream_t stream);

/// Where a layer's ReLU let through.
enum class Passed {
  kByInput,   ///< where norm(x) is above 0
  kByMask,    ///< as the mask of ApplyJob says
  kByWinner,  ///< as the winners of PoolJob say: a code other than kNoWinner
};

/// dz = dy[0] + dy[1] where the ReLU let through, in the tensor's type; the gradients of the norms'
/// parameters.
struct BackwardReduceJob {
  NormMatrix matrix;
  Passed passed;
  const uint8_t* mask;       ///< or PoolJob::codes
  const void* dy[2];         ///< the second may be null
  NormedTensor main, other;  ///< `other` if the summand had a norm too
  void* dz;                  ///< null: not needed
  float *dbias, *dweight;
  float *other_dbias, *other_dweight;
  NormWorkspace workspace;
};
cudaError_t launch_backward_reduce(const BackwardReduceJob& job, cudaStream_t stream);

/// dx = weight * invstd * (dz - mean(dz) - xhat * mean(dz * xhat)), of both norms if there is an `other`.
struct BackwardApplyJob {
  NormMatrix matrix;
  bool dz_is_dy;  ///< the ReLU is still to be taken out of dz, by norm(x)
  const void* dz;
  NormedTensor main, other;
  const float* dbias;
  const float* dweight;
  const float* other_dweight;
  void* dx;
  void* other_dx;
};
cudaError_t launch_backward_apply(const BackwardApplyJob& job, cudaStream_t stream);

/// Sizes of a 3x3 pooling in steps of 2, padded by 1.
struct PoolSizes {
  int images, height, width;
  int pooled_height() const { return (height + 1) / 2; }
  int pooled_width() const { return (width + 1) / 2; }
  int64_t pooled() const { return static_cast<int64_t>(images) * pooled_height() * pooled_width(); }
};

/// A code of a pooled value: which of its window's 9 inputs it is, row by row, or that it is 0.
inline constexpr uint8_t kNoWinner = 9;

/// y = maximum of relu(norm(x)) in each window, with its code and the x that it came from.
struct PoolJob {
  NormMatrix matrix;  ///< of x
  PoolSizes sizes;
  NormedTensor main;
  void* y;
  uint8_t* codes;
  void* winners;
};
cudaError_t launch_pool(const PoolJob& job, cudaStream_t stream);

/// As BackwardApplyJob, with the gradient of the pooled values, each of which goes to its winner.
struct PoolBackwardJob {
  NormMatrix matrix;  ///< of x
  PoolSizes sizes;
  const void* dy;
  const uint8_t* codes;
  NormedTensor main;
  const float* dbias;
  const float* dweight;
  void* dx;
};
cudaError_t launch_pool_backward(const PoolBackwardJob& job, cudaStream_t stream);

/// How many floats a reduction of StatisticsJob or BackwardReduceJob needs for its partial sums.
int64_t statistics_floats(const NormMatrix& matrix);
int64_t backward_reduce_floats(const NormMatrix& matrix);

}  // namespace slipstream
