#include "models/norm_statistics_cuda.h"

#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>

#include "models/kernel_tensors.h"

namespace slipstream {

NormMatrix matrix_of(const at::Tensor& x) {
  return {x.numel() / x.size(1), static_cast<int>(x.size(1)), kernel_type(x.scalar_type()),
          at::cuda::getCurrentDeviceProperties()->multiProcessorCount};
}

void queue_statistics(const at::Tensor& x, const at::Tensor& sums, const BatchNorm& norm,
                      const at::Tensor& statistics) {
  StatisticsJob job{.matrix = matrix_of(x), .x = x.const_data_ptr()};
  job.mean = statistics.data_ptr<float>();
  job.invstd = job.mean + x.size(1);
  job.running_mean = norm.running_mean.data_ptr<float>();
  job.running_var = norm.running_var.data_ptr<float>();
  job.momentum = static_cast<float>(kNormMomentum);
  job.epsilon = static_cast<float>(kNormEpsilon);
  cudaStream_t stream = c10::cuda::getCurrentCUDAStream().stream();
  if (sums.defined()) {
    C10_CUDA_CHECK(
        launch_statistics_of_sums(job, sums.const_data_ptr<float>(), static_cast<int>(sums.size(0)), stream));
    return;
  }
  const at::Tensor partials = floats(x, {statistics_floats(job.matrix)});
  job.workspace = {partials.data_ptr<float>(), norm.arrivals.data_ptr<int>()};
  C10_CUDA_CHECK(launch_statistics(job, stream));
}

}  // namespace slipstream
