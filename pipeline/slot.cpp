#include "pipeline/slot.h"

#include <ATen/ops/empty.h>

#include <algorithm>

#include "pipeline/trace.h"

namespace slipstream {

Slot::Slot(const LoaderOptions& options)
    : files(options.batch_size),
      encoded(options.batch_size),
      ready(options.compute.device()),
      consumed(options.compute.device()) {
  const c10::Device device = options.compute.device();
  const int64_t n = options.batch_size;
  const int64_t size = options.image_size;
  const bool pinned = options.schedule.pinned && device.is_cuda();
  host_pixels = make_host_tensor({n, size, size, 3}, at::kByte, pinned);
  host_flips = make_host_tensor({n}, at::kByte, pinned);
  host_labels = make_host_tensor({n}, at::kLong, pinned);
  if (device.is_cuda()) {
    pixels = at::empty(host_pixels.sizes(), host_pixels.options().device(device));
    flips = at::empty(host_flips.sizes(), host_flips.options().device(device));
    labels = at::empty(host_labels.sizes(), host_labels.options().device(device));
  } else {
    pixels = host_pixels;
    flips = host_flips;
    labels = host_labels;
  }
  images = at::empty({n, 3, size, size}, at::TensorOptions(options.type).device(device),
                     options.channels_last ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Contiguous);
}

void Slot::begin(std::shared_ptr<const Pass> of_pass, int64_t batch_of_pass, int64_t its_sequence,
                 const LoaderOptions& options) {
  pass = std::move(of_pass);
  batch = batch_of_pass;
  sequence = its_sequence;
  const auto samples = static_cast<int64_t>(pass->order.size());
  count = std::min(options.batch_size, samples - batch * options.batch_size);
  times = options.times ? std::make_shared<InputTimes>(options.compute.device()) : nullptr;
  trace = options.trace != nullptr && options.trace->wants(sequence) ? options.trace : nullptr;
  bad_files.clear();
  error = nullptr;
  error_position = -1;
}

void Slot::fail(int64_t position, std::exception_ptr why) {
  const std::lock_guard lock(mutex);
  if (error && error_position <= position) return;
  error = std::move(why);
  error_position = position;
}

}  // namespace slipstream
