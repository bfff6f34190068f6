#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "pipeline/batch_stager.h"
#include "pipeline/slot.h"

namespace slipstream {

/// Batches from an image folder through a ring of slots. Workers fill the slots' host memory, one more thread
/// does the device's part, the training thread takes and releases them:
///
///     open -> filled by workers -> staged -> taken by next() -> released -> open ...
///
/// Slots go round in order: batch number s, counted over all passes, lives in slot s modulo the ring's
/// length, and opens once batch s - length was released. A schedule without threads does the same work inside
/// next(), one batch at a time.
class BatchLoader : public BatchSource {
 public:
  explicit BatchLoader(const LoaderOptions& options);
  ~BatchLoader() override;  ///< abandons what is under way
  BatchLoader(const BatchLoader&) = delete;
  BatchLoader& operator=(const BatchLoader&) = delete;

  void enqueue(Pass pass) override;
  std::optional<Batch> next() override;
  void release(const Batch& batch) override;

 private:
  /// Batches of passes, one after the other.
  struct Cursor {
    std::deque<std::shared_ptr<const Pass>> passes;
    int64_t batch = -1;  ///< of the first pass; -1: not begun
  };
  struct Task {
    int64_t sequence;  // of the batch
    int64_t position;  // within it
  };

  Slot& slot_of(int64_t sequence) { return *slots_[sequence % slots_.size()]; }
  int64_t& unfilled(int64_t sequence) { return unfilled_[sequence % unfilled_.size()]; }
  void work(SamplePreparer& preparer);
  void stage_batches();
  std::optional<Task> take_task();
  bool can_open() const;
  void open_next_slot(std::unique_lock<std::mutex>& lock);
  void prepare_inline(Slot& slot);
  Batch hand_out(Slot& slot);

  LoaderOptions options_;
  BatchStager stager_;
  std::vector<std::unique_ptr<SamplePreparer>> preparers_;  // one a worker; one if there are no threads
  std::vector<std::unique_ptr<Slot>> slots_;

  std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  Cursor to_open_;
  Cursor to_take_;
  bool opening_ = false;  // a worker waits for the slot's last copy, outside the lock
  bool closing_ = false;
  // Batches so far, over all passes: opened >= staged >= taken >= released.
  int64_t opened_ = 0;
  int64_t staged_ = 0;
  int64_t taken_ = 0;
  int64_t released_ = 0;
  int64_t next_position_ = 0;      // to be prepared, of the batch opened last
  int64_t end_position_ = 0;       // its count; the slot's own changes while the next is opened
  std::vector<int64_t> unfilled_;  // samples that workers still owe, by slot

  std::vector<std::jthread> threads_;  // last: they end first
};

}  // namespace slipstream
