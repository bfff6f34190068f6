#include <ATen/ops/empty_like.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include "models/fused_sgd.h"
#include "models/sgd_kernel.h"

namespace slipstream {
namespace {

// Whether elements lie in the same order, which dimensions of one element have no say in.
bool same_order(const at::Tensor& a, const at::Tensor& b) {
  for (int64_t i = 0; i < a.dim(); ++i) {
    if (a.size(i) > 1 && a.stride(i) != b.stride(i)) return false;
  }
  return true;
}

// The gradient in the parameter's memory order; a copy only if it isn't so.
at::Tensor ordered(const SgdTensors& tensors) {
  if (same_order(tensors.gradient, tensors.parameter)) return tensors.gradient;
  return at::empty_like(tensors.parameter, tensors.gradient.options()).copy_(tensors.gradient);
}

SgdEntry entry_of(const SgdTensors& tensors, const at::Tensor& gradient) {
  TORCH_CHECK(gradient.scalar_type() == at::kFloat ||
              (tensors.cast.defined() && gradient.scalar_type() == tensors.cast.scalar_type()));
  return {.parameter = tensors.parameter.mutable_data_ptr<float>(),
          .momentum = tensors.momentum.mutable_data_ptr<float>(),
          .gradient = gradient.const_data_ptr(),
          .cast = tensors.cast.defined() ? tensors.cast.mutable_data_ptr() : nullptr,
          .count = static_cast<int32_t>(tensors.parameter.numel()),
          .first_chunk = 0,
          .gradient_of_casts = gradient.scalar_type() != at::kFloat};
}

void add(const SgdEntry& entry, SgdJob& job) {
  job.entries[job.count] = entry;
  job.entries[job.count].first_chunk = job.chunks;
  job.chunks += (entry.count + kSgdChunk - 1) / kSgdChunk;
  ++job.count;
}

}  // namespace

bool has_fused_sgd(c10::Device device) { return device.is_cuda(); }

void fused_sgd(const std::vector<SgdTensors>& tensors, const SgdStep& step) {
  const c10::cuda::CUDAGuard device(tensors.front().parameter.device());
  const cudaStream_t stream = c10::cuda::getCurrentCUDAStream().stream();
  std::vector<at::Tensor> gradients;  // until the launches that read them are queued
  std::vector<SgdJob> jobs;
  for (const SgdTensors& one : tensors) {
    if (jobs.empty() || jobs.back().count == kMostSgdEntries) {
      jobs.push_back({.count = 0,
                      .chunks = 0,
                      .type = CastType::kFloat16,
                      .weight_decay = static_cast<float>(step.weight_decay),
                      .momentum = static_cast<float>(step.momentum),
                      .lr = step.lr.const_data_ptr<float>(),
                      .scale = step.scale.defined() ? step.scale.const_data_ptr<float>() : nullptr,
                      .found_inf = step.scale.defined() ? step.found_inf.const_data_ptr<float>() : nullptr});
    }
    if (one.cast.defined() && one.cast.scalar_type() == at::kBFloat16) jobs.back().type = CastType::kBfloat16;
    gradients.push_back(ordered(one));
    add(entry_of(one, gradients.back()), jobs.back());
  }
  if (step.scale.defined()) {
    auto* found_inf = step.found_inf.mutable_data_ptr<float>();
    C10_CUDA_CHECK(cudaMemsetAsync(found_inf, 0, sizeof(float), stream));
    for (const SgdJob& job : jobs) C10_CUDA_CHECK(launch_find_inf(job, found_inf, stream));
  }
  for (const SgdJob& job : jobs) C10_CUDA_CHECK(launch_sgd(job, stream));
}

}  // namespace slipstream
