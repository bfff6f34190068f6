#include "pipeline/batch_stager.h"

#include <c10/core/StreamGuard.h>

#include "data/error.h"
#include "data/normalise.h"
#include "pipeline/trace.h"

namespace slipstream {
namespace {

int trace_track(const LoaderOptions& options) {
  return options.trace == nullptr ? 0 : options.trace->stager();
}

c10::Stream input_stream(const LoaderOptions& options) {
  return options.schedule.copy_stream ? make_stream(options.compute.device(), StreamPriority::kHigh)
                                      : options.compute;
}

}  // namespace

BatchStager::BatchStager(const LoaderOptions& options)
    : options_(options), stream_(input_stream(options)), decode_stream_(input_stream(options)) {
  if (!options.decode_on_device) return;
  decoder_ = make_batch_decoder(options.compute.device());
  if (options.gpu_decode == GpuDecode::kExact && !decoder_->has_engines()) {
    throw UsageError(
        "--gpu-decode exact needs a GPU with JPEG engines, and this one has none: choose --decode cpu, which "
        "is exact, too");
  }
  second_chance_.emplace(options, nullptr, trace_track(options));
}

std::unique_ptr<JpegProbe> BatchStager::make_probe() const {
  return decoder_ ? decoder_->make_probe() : nullptr;
}

void BatchStager::stage(Slot& slot) {
  const c10::StreamGuard guard(stream_);
  const TraceScope scope(slot.trace, TraceWork::kStage, trace_track(options_), slot.sequence);
  const std::vector<EncodedImage> encoded = decode_on_device(slot);

  make_stream_wait(stream_, slot.consumed);
  if (slot.times) slot.times->begin.record(stream_);
  copy_to_device(slot);
  if (options_.schedule.wait_each) synchronise(stream_);
  if (slot.times) slot.times->copied.record(stream_);

  finish_on_device(slot, encoded);
  if (slot.times) slot.times->resized.record(stream_);
  slot.ready.record(stream_);
}

// Returns what the device was to decode. What it failed at, the CPU then has decoded.
std::vector<EncodedImage> BatchStager::decode_on_device(Slot& slot) {
  std::vector<EncodedImage> encoded;
  for (int64_t i = 0; i < slot.count && decoder_; ++i) {
    if (!slot.encoded[i].bytes.empty()) encoded.push_back(slot.encoded[i]);
  }
  if (encoded.empty()) return encoded;
  if (slot.times) slot.times->decode_begin.record(decode_stream_);
  const std::vector<size_t> failed = decoder_->decode(decode_stream_, encoded);
  if (slot.times) {
    slot.times->on_device = true;
    slot.times->decoded.record(decode_stream_);
  }
  for (const size_t i : failed) second_chance_->decode_after_all(slot, encoded[i].index);
  return encoded;
}

void BatchStager::finish_on_device(Slot& slot, const std::vector<EncodedImage>& encoded) {
  const at::Tensor pixels = slot.pixels.narrow(0, 0, slot.count);
  const at::Tensor images = slot.images.narrow(0, 0, slot.count);
  if (decoder_ && options_.resizer == Resizer::kFused) {
    return decoder_->finish_batch(stream_, encoded, pixels, slot.host_flips, images);
  }
  if (!encoded.empty()) decoder_->resize_into(stream_, encoded, pixels);
  normalise(stream_, pixels, slot.flips.narrow(0, 0, slot.count), images);
}

void BatchStager::copy_to_device(Slot& slot) {
  if (!stream_.device().is_cuda()) return;  // the device's tensors are the host's
  const bool queued = options_.schedule.pinned;
  slot.labels.copy_(slot.host_labels, queued);
  slot.flips.copy_(slot.host_flips, queued);
  const auto from_cpu = [&](int64_t i) { return slot.encoded[i].bytes.empty(); };
  for (int64_t first = 0; first < slot.count;) {  // runs of samples that the CPU decoded
    int64_t end = first;
    while (end < slot.count && from_cpu(end)) ++end;
    if (end > first) {
      slot.pixels.narrow(0, first, end - first).copy_(slot.host_pixels.narrow(0, first, end - first), queued);
    }
    first = end + 1;
  }
}

}  // namespace slipstream
