#include "pipeline/step_log.h"

#include <ATen/ops/stack.h>

namespace slipstream {

StepLog::StepLog(c10::Stream compute, int64_t interval, std::function<void(const StepRecord&)> report)
    : compute_(compute), interval_(interval), report_(std::move(report)) {}

void StepLog::begin_epoch(const StepTotals& from) {
  totals_ = from;
  last_end_ = std::make_shared<Event>(compute_.device());
  last_end_->record(compute_);
}

void StepLog::begin_step() {
  begin_ = std::make_shared<Event>(compute_.device());
  begin_->record(compute_);
}

void StepLog::end_step(const Batch& batch, StepRecord record, const at::Tensor& metrics) {
  auto end = std::make_shared<Event>(compute_.device());
  end->record(compute_);
  waiting_.push_back({std::move(record), metrics, batch.times, last_end_, begin_, end});
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
    const Step& step = group.steps[i];
    StepRecord record = step.record;
    record.loss = metrics[static_cast<int64_t>(i)][0];
    record.loss_scale = metrics[static_cast<int64_t>(i)][2];
    if (step.input) record.times = step.input->stage_times();
    record.times.compute_s = step.begin->seconds_to(*step.end);
    record.times.data_wait_s = step.previous_end->seconds_to(*step.begin);
    totals_.images += record.images;
    totals_.steps += 1;
    totals_.loss += static_cast<double>(record.loss) * static_cast<double>(record.images);
    totals_.right += metrics[static_cast<int64_t>(i)][1];
    totals_.times += record.times;
    report_(record);
  }
}

}  // namespace slipstream
