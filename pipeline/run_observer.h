#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "pipeline/gpu_monitor.h"

namespace slipstream {

class Trace;

/// Seconds that each stage of the input and of the step took. For stages on several threads the sum over
/// threads; for stages on the device, between events on their stream.
struct StageTimes {
  double read_s = 0;
  double decode_s = 0;
  double resize_s = 0;
  double h2d_s = 0;
  double compute_s = 0;
  double data_wait_s = 0;     ///< the compute stream idle for want of a batch: input that isn't hidden
  double device_input_s = 0;  ///< what of decode_s and resize_s passed on the device, not on threads

  StageTimes& operator+=(const StageTimes& other);
};

/// One training step, reported once its events have passed: some steps after it was queued, in order.
struct StepRecord {
  int64_t epoch = 0;  ///< from 1
  int64_t step = 0;   ///< from 1, within the epoch
  int64_t images = 0;
  float loss = 0;
  double lr = 0;
  float loss_scale = 1;
  double begin_s = 0;  ///< of its work on the device; since this process's first epoch began
  StageTimes times;
};

/// One epoch: a row of epochs.csv and an object in report.json. Empty optionals are null there.
struct EpochReport {
  int64_t epoch = 0;  ///< from 1
  std::string mode;
  std::string decode;
  int64_t images = 0;
  double wall_s = 0;  ///< training part of the epoch
  double images_per_s = 0;
  std::optional<double> data_wait_s, read_s, decode_s, resize_s, h2d_s, compute_s;
  /// wall_s less compute_s and data_wait_s: the host between steps, and after the last. Empty where an epoch
  /// was resumed within.
  std::optional<double> other_s;
  std::optional<double> hidden_share;        ///< of the input's time, 0 to 1
  std::optional<double> alone_images_per_s;  ///< of the step while no input is prepared, measured beforehand
  std::optional<double> alone_share;         ///< images_per_s as a share of that
  GpuUse gpu;                                ///< over the epoch
  std::optional<int64_t> gpu_mem_bytes;      ///< peak in use by this process's allocator
  std::optional<double> train_loss, train_top1, val_loss, val_top1, val_top5;
  std::string bottleneck;  ///< one sentence: what limits the epoch, and the option to try
};

/// What a progress line shows, now.
struct Progress {
  const char* phase = "";  ///< "train", "validate" or "evaluate"
  int64_t epoch = 0, epochs = 0;
  int64_t step = 0, steps = 0;
  double images_per_s = 0;
  std::optional<float> loss;  ///< of the latest step whose loss has arrived
  double lr = 0;
  double data_wait_share = 0;  ///< of the time since the epoch began
  double left_s = 0;           ///< to the end of the run, at this rate
};

/// What a run tells while it goes on; called on the thread that trains.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  virtual void on_message(const std::string& sentence) = 0;
  virtual void on_indexed(int64_t classes_done, int64_t classes, int64_t files) = 0;
  /// Training starts at this epoch (from 1) after this many steps of it (0: from its start). Comes before the
  /// first on_step, on_epoch and on_bad_file.
  virtual void on_start(int64_t epoch, int64_t step) = 0;
  virtual void on_progress(const Progress& progress) = 0;
  virtual void on_step(const StepRecord& step) = 0;
  virtual void on_epoch(const EpochReport& report) = 0;
  /// What --trace recorded, once the first epoch's training has ended. Valid during the call.
  virtual void on_trace(const Trace&) {}
  virtual void on_bad_file(const std::string& path, const std::string& why) = 0;
};

}  // namespace slipstream
