#include "pipeline/step_log.h"

#include <ATen/ops/stack.h>

#include <algorithm>

#include "pipeline/trace.h"

namespace slipstream {

StepLog::StepLog(c10::Stream compute, int64_t interval, bool threads, Trace* trace,
                 std::function<void(const StepRecord&)> report)
    : compute_(compute), interval_(interval), threads_(threads), trace_(trace), report_(std::move(report)) {}

void StepLog::begin_epoch(const StepTotals& from) {
  totals_ = from;
  last_end_ = std::make_shared<Event>(compute_.device());
  reported_end_s_ = record_and_await(*last_end_, compute_);
  if (!origin_s_) origin_s_ = reported_end_s_;
}

void StepLog::begin_step() {
  begin_ = std::make_shared<Event>(compute_.device());
  begin_->record(compute_);
}

void StepLog::end_step(const Batch& batch, StepRecord record, const at::Tensor& metrics) {
  auto end = std::make_shared<Event>(compute_.device());
  end->record(compute_);
  waiting_.push_back({record, metrics, batch.times, batch.sequence, wait_s_, last_end_, begin_, end});
  last_end_ = std::move(end);
  if (static_cast<int64_t>(waiting_.size()) >= interval_) fetch();
  report_arrived(/*wait=*/false);
}

void StepLog::flush() {
  if (!waiting_.empty()) fetch();
  report_arrived(/*wait=*/true);
}

void StepLog::fetch() {
  std::vector<at::Tensor> rows;
  for (Step& step : waiting_) rows.push_back(std::move(step.metrics));
  const at::Tensor on_device = at::stack(rows);
  const bool cuda = compute_.device().is_cuda();
  Group group{std::move(waiting_), make_host_tensor(on_device.sizes(), at::kFloat, cuda),
              Event(compute_.device())};
  group.metrics.copy_(on_device, /*non_blocking=*/cuda);
  group.arrived.record(compute_);
  on_the_way_.push_back(std::move(group));
  waiting_.clear();
}

void StepLog::report_arrived(bool wait) {
  while (!on_the_way_.empty()) {
    Group& group = on_the_way_.front();
    if (wait) {
      group.arrived.wait_on_host();
    } else if (!group.arrived.passed()) {
      return;
    }
    report_group(group);
    on_the_way_.pop_front();
  }
}

void StepLog::report_group(const Group& group) {
  const auto metrics = group.metrics.accessor<float, 2>();
  for (size_t i = 0; i < group.steps.size(); ++i) {
    const auto row = static_cast<int64_t>(i);
    StepRecord record = group.steps[i].record;
    record.loss = metrics[row][0];
    record.loss_scale = metrics[row][2];
    totals_.right += metrics[row][1];
    report_step(group.steps[i], record);
  }
}

void StepLog::report_step(const Step& step, StepRecord record) {
  const double gap_s = step.previous_end->seconds_to(*step.begin);
  const double begin_s = reported_end_s_ + gap_s;
  if (step.input) record.times = step.input->stage_times();
  record.times.compute_s = step.begin->seconds_to(*step.end);
  record.times.data_wait_s = exposed_input(step, gap_s);
  record.begin_s = begin_s - *origin_s_;
  reported_end_s_ = begin_s + record.times.compute_s;
  if (trace_ != nullptr && trace_->wants(step.sequence)) {
    if (step.input) trace_->add_input(*step.input, step.sequence, *step.begin, begin_s);
    trace_->add({TraceWork::kStep, trace_->compute_stream(), begin_s, reported_end_s_, step.sequence});
  }
  totals_.images += record.images;
  totals_.steps += 1;
  totals_.loss += static_cast<double>(record.loss) * static_cast<double>(record.images);
  totals_.times += record.times;
  report_(record);
}

// What of the compute stream's idle time before a step was for want of its batch. Lengths of time are
// compared, not moments: in an hour the device's clock may leave the host's by more than such a gap lasts.
double StepLog::exposed_input(const Step& step, double gap_s) const {
  double without_batch_s = step.wait_s;
  // A batch that came after the step before had ended was missing until then, whatever the host was doing.
  if (threads_ && step.input) {
    without_batch_s = std::max(without_batch_s, step.previous_end->seconds_to(step.input->resized));
  } else if (step.input && compute_.device().is_cuda()) {
    without_batch_s += step.input->copied.seconds_to(step.input->resized);  // which the host didn't wait for
  }
  return std::clamp(without_batch_s, 0.0, std::max(0.0, gap_s));
}

}  // namespace slipstream
