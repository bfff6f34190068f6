#include "models/stem_cuda.h"

#include <ATen/cuda/CUDAContext.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include "models/kernel_tensors.h"
#include "models/stem_kernel.h"

namespace slipstream {
namespace {

using at::Tensor;

constexpr int64_t kPaddedChannels = kStemImageChannels + 1;

bool fits(const Tensor& tensor) {
  return tensor.is_cuda() && tensor.dim() == 4 && tensor.numel() > 0 &&
         (tensor.scalar_type() == at::kHalf || tensor.scalar_type() == at::kBFloat16) &&
         tensor.is_contiguous(at::MemoryFormat::ChannelsLast);
}

cudaStream_t stream() { return c10::cuda::getCurrentCUDAStream().stream(); }

StemProblem problem_of(const Tensor& padded) {
  return {kernel_type(padded.scalar_type()), static_cast<int>(padded.size(0)),
          static_cast<int>(padded.size(2)), static_cast<int>(padded.size(3)),
          at::cuda::getCurrentDeviceProperties()->multiProcessorCount};
}

}  // namespace

bool pad_by_kernel(const Tensor& images, const Tensor& padded) {
  if (!fits(images) || !fits(padded) || !on_boundary(images) || !on_boundary(padded)) return false;
  if (images.size(1) != kStemImageChannels || images.size(2) * images.size(3) % 2 != 0) return false;
  const c10::cuda::CUDAGuard device(images.device());
  const PadJob job{.images = images.const_data_ptr(),
                   .padded = padded.mutable_data_ptr(),
                   .pairs = padded.numel() / kPaddedChannels / 2};
  C10_CUDA_CHECK(launch_pad(job, stream()));
  return true;
}

bool stem_kernels_take(const Tensor& padded, const Tensor& weight) {
  return fits(padded) && fits(weight) && weight.scalar_type() == padded.scalar_type() &&
         on_boundary(padded) && padded.size(1) == kPaddedChannels && padded.size(2) % 2 == 0 &&
         padded.size(3) % 2 == 0 &&
         weight.sizes() == at::IntArrayRef({kStemChannels, kStemImageChannels, kStemKernel, kStemKernel});
}

Convolved stem_forward(const Tensor& padded, const Tensor& weight) {
  const c10::cuda::CUDAGuard device(padded.device());
  const StemProblem problem = problem_of(padded);
  const Tensor y = at::empty({padded.size(0), kStemChannels, problem.out_height(), problem.out_width()},
                             padded.options(), at::MemoryFormat::ChannelsLast);
  const Tensor sums = floats(padded, {stem_sum_parts(problem), 2, kStemChannels});
  const StemForwardJob job{.problem = problem,
                           .x = padded.const_data_ptr(),
                           .weight = weight.const_data_ptr(),
                           .y = y.mutable_data_ptr(),
                           .sums = sums.mutable_data_ptr<float>()};
  C10_CUDA_CHECK(launch_stem_forward(job, stream()));
  return {y, sums};
}

Tensor stem_weight_gradient(const Tensor& padded, const Tensor& weight, const Tensor& dy) {
  const c10::cuda::CUDAGuard device(padded.device());
  const StemProblem problem = problem_of(padded);
  const Tensor gradient = dense(dy);
  Tensor dweight = at::empty_like(weight);
  const Tensor partials = floats(padded, {stem_gradient_floats(problem)});
  const StemGradientJob job{.problem = problem,
                            .x = padded.const_data_ptr(),
                            .dy = gradient.const_data_ptr(),
                            .dweight = dweight.mutable_data_ptr(),
                            .partials = partials.mutable_data_ptr<float>()};
  C10_CUDA_CHECK(launch_stem_gradient(job, stream()));
  return dweight;
}

}  // namespace slipstream
