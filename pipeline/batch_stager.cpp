#include "pipeline/batch_stager.h"

#include <c10/core/StreamGuard.h>

#include "data/normalise.h"

namespace slipstream {

BatchStager::BatchStager(const LoaderOptions& options)
    : options_(options),
      // Of the same priority as the compute stream: with nvJPEG's hardware backend on a stream of high
      // priority runs came to a halt on an H200 (driver 580, nvJPEG 13.0.1), and on one of lower priority its
      // kernels wait behind those of a step.
      stream_(options.schedule.copy_stream ? make_stream(options.compute.device()) : options.compute) {
  if (!options.decode_on_device) return;
  decoder_ = make_batch_decoder(options.compute.device());
  second_chance_.emplace(options, nullptr);
}

std::unique_ptr<JpegProbe> BatchStager::make_probe() const {
  return decoder_ ? decoder_->make_probe() : nullptr;
}

void BatchStager::stage(Slot& slot) {
  const c10::StreamGuard guard(stream_);
  std::vector<EncodedImage> encoded;  // what the device decodes; the CPU has prepared the rest
  for (int64_t i = 0; i < slot.count && decoder_; ++i) {
    if (!slot.encoded[i].bytes.empty()) encoded.push_back(slot.encoded[i]);
  }

  make_stream_wait(stream_, slot.consumed);
  if (slot.times) slot.times->begin.record(stream_);
  copy_to_device(slot, encoded);
  if (options_.schedule.wait_each) synchronise(stream_);
  if (slot.times) slot.times->copied.record(stream_);

  if (!encoded.empty()) decode_on_device(slot, encoded);
  normalise(stream_, slot.pixels.narrow(0, 0, slot.count), slot.flips.narrow(0, 0, slot.count),
            slot.images.narrow(0, 0, slot.count));
  if (slot.times) slot.times->resized.record(stream_);
  slot.ready.record(stream_);
}

void BatchStager::copy_to_device(Slot& slot, const std::vector<EncodedImage>& encoded) {
  if (!stream_.device().is_cuda()) return;  // the device's tensors are the host's
  const bool queued = options_.schedule.pinned;
  slot.labels.copy_(slot.host_labels, queued);
  slot.flips.copy_(slot.host_flips, queued);
  int64_t first = 0;  // runs of samples that the CPU decoded
  for (const EncodedImage& image : encoded) {
    copy_samples(slot, first, image.index);
    first = image.index + 1;
  }
  copy_samples(slot, first, slot.count);
}

void BatchStager::copy_samples(Slot& slot, int64_t first, int64_t end) {
  if (first == end) return;
  slot.pixels.narrow(0, first, end - first)
      .copy_(slot.host_pixels.narrow(0, first, end - first), options_.schedule.pinned);
}

void BatchStager::decode_on_device(Slot& slot, const std::vector<EncodedImage>& encoded) {
  const std::vector<size_t> failed = decoder_->decode(stream_, encoded);
  if (slot.times) {
    slot.times->on_device = true;
    slot.times->decoded.record(stream_);
  }
  decoder_->resize_into(stream_, encoded, slot.pixels);
  if (failed.empty()) return;
  for (const size_t i : failed) {
    const int64_t position = encoded[i].index;
    second_chance_->decode_after_all(slot, position);
    copy_samples(slot, position, position + 1);
  }
  slot.labels.copy_(slot.host_labels, options_.schedule.pinned);  // some may be ignored now
  slot.flips.copy_(slot.host_flips, options_.schedule.pinned);
}

}  // namespace slipstream
