#include "pipeline/synthetic_source.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>

namespace slipstream {
namespace {
constexpr int64_t kLabelSets = 64;
}  // namespace

SyntheticSource::SyntheticSource(const LoaderOptions& options, int64_t classes) {
  const c10::Device device = options.compute.device();
  const at::Generator generator = at::detail::createCPUGenerator(options.seed);
  const auto layout = options.channels_last ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Contiguous;
  const int64_t size = options.image_size;
  images_ = at::randn({options.batch_size, 3, size, size}, generator, at::TensorOptions())
                .to(device, options.type, /*non_blocking=*/false, /*copy=*/false, layout);
  labels_ = at::randint(classes, {kLabelSets, options.batch_size}, generator, at::TensorOptions(at::kLong))
                .to(device)
                .unbind();
}

void SyntheticSource::enqueue(Pass pass) { batches_left_.push_back(pass.end_batch - pass.first_batch); }

std::optional<Batch> SyntheticSource::next() {
  if (batches_left_.empty()) return std::nullopt;
  if (batches_left_.front()-- == 0) {
    batches_left_.pop_front();
    return std::nullopt;
  }
  return batch();
}

Batch SyntheticSource::batch() {
  const int64_t sequence = handed_out_++;
  const at::Tensor& labels = labels_[static_cast<size_t>(sequence % kLabelSets)];
  return {images_, labels, labels.size(0), nullptr, {}, sequence};
}

}  // namespace slipstream
