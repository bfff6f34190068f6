#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "pipeline/sample_preparer.h"
#include "pipeline/slot.h"

namespace slipstream {

/// Does the device's part of a batch: copies what workers prepared, decodes and resizes what the device
/// decodes, normalises, and records `ready`. Used by one thread at a time.
class BatchStager {
 public:
  explicit BatchStager(const LoaderOptions& options);

  /// A probe for a worker; null if the CPU decodes all.
  std::unique_ptr<JpegProbe> make_probe() const;

  /// Queues the batch on the input's stream, behind the slot's `consumed`. Blocks while nvJPEG's engines work
  /// and, where the schedule says so, after each copy. A failure is reported through the slot.
  void stage(Slot& slot);

 private:
  void copy_to_device(Slot& slot, const std::vector<EncodedImage>& encoded);
  void copy_samples(Slot& slot, int64_t first, int64_t end);
  void decode_on_device(Slot& slot, const std::vector<EncodedImage>& encoded);

  LoaderOptions options_;
  c10::Stream stream_;
  std::unique_ptr<BatchDecoder> decoder_;        // null if the CPU decodes all
  std::optional<SamplePreparer> second_chance_;  // decodes on the CPU what the decoder failed at
};

}  // namespace slipstream
