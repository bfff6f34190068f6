#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "pipeline/batch.h"
#include "pipeline/host_clock.h"

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
  ///
  /// `threads`: whether input goes on while the host does other things. `trace`: where to add the steps'
  /// and their input's time on the device; may be null.
  StepLog(c10::Stream compute, int64_t interval, bool threads, Trace* trace,
          std::function<void(const StepRecord&)> report);

  /// Marks where the host begins to wait for a batch, and where it has one.
  void begin_wait() { wait_begin_s_ = host_seconds(); }
  void end_wait() { wait_s_ = host_seconds() - wait_begin_s_; }

  /// Marks where a step's work begins and ends on the compute stream.
  void begin_step();
  void end_step(const Batch& batch, StepRecord record, const at::Tensor& metrics);

  /// The first step's wait for data counts from here. Waits for what is queued on the compute stream:
  /// nothing, as a rule. `from`: what a resumed epoch brings along.
  void begin_epoch(const StepTotals& from);

  /// Blocks until everything was reported.
  void flush();

  const StepTotals& totals() const { return totals_; }

 private:
  struct Step {
    StepRecord record;
    at::Tensor metrics;                 // float32 [3], on the device
    std::shared_ptr<InputTimes> input;  // may be null
    int64_t sequence;                   // of its batch
    double wait_s;                      // of the host, for its batch
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
  void report_step(const Step& step, StepRecord record);
  double exposed_input(const Step& step, double gap_s) const;

  c10::Stream compute_;
  int64_t interval_;
  bool threads_;
  Trace* trace_;
  std::function<void(const StepRecord&)> report_;
  std::shared_ptr<Event> begin_;
  std::shared_ptr<Event> last_end_;
  std::vector<Step> waiting_;  // not fetched yet
  std::deque<Group> on_the_way_;
  StepTotals totals_;
  double wait_begin_s_ = 0, wait_s_ = 0;
  std::optional<double> origin_s_;  // by host_seconds(): when the first epoch began
  double reported_end_s_ = 0;       // and when the step that was reported last had ended
};

}  // namespace slipstream
