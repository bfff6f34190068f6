#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "pipeline/device.h"
#include "pipeline/loader_options.h"

namespace slipstream {

class InputTimes;

/// What a span of a trace was spent on.
enum class TraceWork {
  // The host's.
  kWaitForInput,
  kRead,
  kDecode,
  kResize,
  kStage,
  kQueueStep,
  kWaitForDevice,
  // The device's, between events on its streams.
  kDeviceDecode,
  kCopy,
  kFinish,
  kStep,
};

struct TraceSpan {
  TraceWork work = TraceWork::kRead;
  int track = 0;
  double begin_s = 0, end_s = 0;      ///< by host_seconds()
  int64_t batch = 0;                  ///< Batch::sequence
  const std::string* file = nullptr;  ///< within its folder, where the span is one sample's
};

/// What the threads and streams of a run did for its first batches, and when: a row each, which is called a
/// track. Bounded: batches beyond `limit` aren't recorded, nor spans beyond half a million. Any thread may
/// add.
class Trace {
 public:
  /// `name` tells it from other traces in one file. The samples' folders must outlive it.
  Trace(std::string name, const LoaderOptions& options, int64_t limit);

  /// Call before the first batch is enqueued.
  void limit_to(int64_t batches) { limit_ = batches; }
  bool wants(int64_t batch) const { return batch < limit_; }
  void add(const TraceSpan& span);

  /// Adds what the device did for a batch's input. `reference` and all the input's events have passed;
  /// `reference_s`: when it did, by host_seconds().
  void add_input(const InputTimes& times, int64_t batch, const Event& reference, double reference_s);

  int training_thread() const { return 0; }
  int worker(int number) const { return threads_ ? 1 + number : training_thread(); }
  int stager() const { return threads_ ? worker(workers_) : training_thread(); }
  int compute_stream() const { return static_cast<int>(tracks_.size()) - 1; }

  const std::string& name() const { return name_; }
  const std::vector<std::string>& tracks() const { return tracks_; }  ///< names, in the order to show them
  int64_t slot_of(int64_t batch) const { return batch % ring_; }
  bool is_on_gpu() const { return on_gpu_; }
  std::vector<TraceSpan> spans() const;  ///< so far, by their beginning
  int64_t left_out() const;              ///< spans beyond the bound

 private:
  int decode_stream() const { return on_gpu_ ? compute_stream() - 2 : stager(); }
  int input_stream() const { return on_gpu_ ? compute_stream() - 1 : stager(); }

  std::string name_;
  int64_t limit_;
  bool threads_, on_gpu_;
  int workers_;
  int64_t ring_;
  std::vector<std::string> tracks_;

  mutable std::mutex mutex_;  // guards what follows; a GPU fed at full rate adds some 30,000 spans a second
  std::vector<TraceSpan> spans_;
  int64_t left_out_ = 0;
};

/// Adds a span from its making to its end. Does nothing where `trace` is null.
class TraceScope {
 public:
  TraceScope(Trace* trace, TraceWork work, int track, int64_t batch);
  ~TraceScope();
  TraceScope(const TraceScope&) = delete;
  TraceScope& operator=(const TraceScope&) = delete;

 private:
  Trace* trace_;
  TraceSpan span_;
};

}  // namespace slipstream
