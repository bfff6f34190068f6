#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "pipeline/sample_preparer.h"
#include "pipeline/slot.h"

namespace slipstream {

/// Does the device's part of a batch: copies what workers prepared, decodes and resizes what the device
/// decodes, normalises, and records `ready`. Used by one thread at a time.
///
/// Decoding has a stream of its own, so that the engines begin a batch while the one before is being resized.
class BatchStager {
 public:
  explicit BatchStager(const LoaderOptions& options);

  /// A probe for a worker; null if the CPU decodes all.
  std::unique_ptr<JpegProbe> make_probe() const;

  /// Decodes what the device decodes, which blocks while nvJPEG's engines work, then queues the rest behind
  /// the slot's `consumed`. Blocks after each copy where the schedule says so. A bad file is reported through
  /// the slot.
  void stage(Slot& slot);

 private:
  std::vector<EncodedImage> decode_on_device(Slot& slot);
  void copy_to_device(Slot& slot);
  void finish_on_device(Slot& slot, const std::vector<EncodedImage>& encoded);

  LoaderOptions options_;
  c10::Stream stream_;                     // copies and resizing
  c10::Stream decode_stream_;              // the same one where the schedule has no stream for the input
  std::unique_ptr<BatchDecoder> decoder_;  // null if the CPU decodes all
  std::optional<SamplePreparer> second_chance_;  // decodes on the CPU what the decoder failed at
};

}  // namespace slipstream
