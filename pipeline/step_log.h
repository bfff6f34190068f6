#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "pipeline/batch.h"

namespace slipstream {

/// What training steps have added up to.
struct StepTotals {
  int64_t images = 0;
  int64_t steps = 0;
  double loss = 0;  ///< sum over images of the batch's mean loss
  double right = 0;
  StageTimes times;
};

/// Collects steps' losses and times without ever making the host wait: losses stay on the device and are
/// fetched together once per interval by a copy that runs beside the training; a group of steps is reported,
/// in order, once its copy has arrived, and by then all its events have passed.
class StepLog {
 public:
  /// `interval`: steps between fetches. `report` gets each step once, on the thread that calls
  /// `end_step` or `flush`.
  StepLog(c10::Stream compute, int64_t interval, std::function<void(const StepRecord&)> report);

  /// Marks where a step's work begins and ends on the compute stream.
  void begin_step();
  void end_step(const Batch& batch, StepRecord record, const at::Tensor& metrics);

  /// The first step's wait for data counts from here. `from`: what a resumed epoch brings along.
  void begin_epoch(const StepTotals& from);

  /// Blocks until everything was reported.
  void flush();

  const StepTotals& totals() const { return totals_; }

 private:
  struct Step {
    StepRecord record;
    at::Tensor metrics;                 // float32 [3], on the device
    std::shared_ptr<InputTimes> input;  // may be null
    std::shared_ptr<Event> previous_end;
    std::shared_ptr<Event> begin, end;
  };
  struct Group {  // of steps whose metrics are on their way
    std::vector<Step> steps;
    at::Tensor metrics;  // float32 [steps, 3], on the host
    Event arrived;
  };

  void fetch();
  void report_arrived(bool wait);
  void report_group(const Group& group);

  c10::Stream compute_;
  int64_t interval_;
  std::function<void(const StepRecord&)> report_;
  std::shared_ptr<Event> begin_;
  std::shared_ptr<Event> last_end_;
  std::vector<Step> waiting_;  // not fetched yet
  std::deque<Group> on_the_way_;
  StepTotals totals_;
};

}  // namespace slipstream
