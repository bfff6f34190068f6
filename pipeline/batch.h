#pragma once

#include <ATen/core/Tensor.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/image_folder.h"
#include "models/cross_entropy.h"
#include "pipeline/device.h"
#include "pipeline/run_observer.h"

namespace slipstream {

/// What one batch's input took: sums over threads, and events around the work on the device.
class InputTimes {
 public:
  explicit InputTimes(c10::Device device);

  std::atomic<int64_t> read_ns{0}, decode_ns{0}, resize_ns{0};
  // On the input's streams, in this order. Between `decoded` and `begin` the slot may have to be waited for.
  Event decode_begin, decoded;   ///< only where `on_device`
  Event begin, copied, resized;  ///< `resized` includes normalisation
  bool on_device = false;        ///< some were decoded there

  /// Waits for nothing: call it once `resized` has passed.
  StageTimes stage_times() const;
};

/// A file that could not become a sample.
struct BadFile {
  std::string path;
  std::string why;
};

/// One batch on the device, valid until it is released. The compute stream waits for it already.
struct Batch {
  at::Tensor images;                  ///< [N,3,S,S], normalised, in the training type
  at::Tensor labels;                  ///< int64 [N]; kIgnoredLabel where the file was bad and is skipped
  int64_t count = 0;                  ///< N
  std::shared_ptr<InputTimes> times;  ///< null if times are off or there is no input
  std::vector<BadFile> bad_files;
  int64_t sequence = 0;  ///< for the source
};

/// One way through a folder: training's shuffled and cropped at random, or evaluation's.
struct Pass {
  const ImageFolder* folder = nullptr;  ///< outlives the pass; null for synthetic batches
  bool training = false;
  int64_t epoch = 0;            ///< from 1; part of the key of every draw
  std::vector<uint32_t> order;  ///< indices into the folder's samples
  int64_t first_batch = 0;      ///< where a resumed epoch goes on
  int64_t end_batch = 0;        ///< behind the last; the last may be smaller than the others
};

/// All images of a folder, which outlives the pass, in its order; the last batch may be smaller. `limit`: of
/// batches; 0: none.
Pass evaluation_pass(const ImageFolder& folder, int64_t batch_size, int64_t limit);

/// Where batches come from.
class BatchSource {
 public:
  virtual ~BatchSource() = default;

  /// Adds a pass behind those that are under way. What can be prepared early, is.
  virtual void enqueue(Pass pass) = 0;

  /// The next batch of the current pass, empty once at its end. The compute stream waits for it; the host
  /// only where the batch isn't queued yet. Throws Error naming a bad file where the policy is to stop.
  virtual std::optional<Batch> next() = 0;

  /// Gives the batch's memory back once all that is queued on the compute stream now is done.
  virtual void release(const Batch& batch) = 0;
};

}  // namespace slipstream
