#include "pipeline/compute_bench.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <c10/core/StreamGuard.h>

#include <algorithm>
#include <cmath>

#include "data/error.h"
#include "pipeline/compute_setup.h"
#include "pipeline/device.h"
#include "pipeline/kernel_trace.h"
#include "pipeline/percentile.h"
#include "pipeline/profiler.h"
#include "pipeline/run_ahead.h"
#include "pipeline/synthetic_source.h"
#include "pipeline/train_step.h"

namespace slipstream {
namespace {

constexpr double kWindowSeconds = 1;
constexpr int64_t kTracedSteps = 10;

/// The training step, and the batch that it is always given.
class Bench {
 public:
  Bench(const TrainSetup& setup, c10::Stream compute)
      : compute_(compute),
        lr_(setup.options.lr),
        model_(make_model(setup, kImageNetClasses)),
        step_(model_, setup),
        batch_(SyntheticSource(setup.loader_options(compute), kImageNetClasses).batch()),
        run_ahead_(compute) {
    why_no_graph_ = step_.prepare(batch_.images.sizes());
    synchronise(compute_);
    reset_peak_device_memory(compute_.device());
  }

  /// Queues steps as a training does.
  void run(int64_t steps) {
    for (int64_t i = 0; i < steps; ++i) {
      step_.run(batch_, lr_);
      run_ahead_.limit();
    }
  }

  const TrainStep& step() const { return step_; }
  const std::string& why_no_graph() const { return why_no_graph_; }

  /// Seconds a step of each of several windows.
  std::vector<double> time(int64_t windows, int64_t steps);
  ComputeRate::Parts time_parts(int64_t steps);
  ComputeRate::Traced trace(KernelTrace& trace, int64_t steps);
  void let_profiler_record(int64_t steps);

 private:
  c10::Stream compute_;
  double lr_;
  ResNet model_;
  TrainStep step_;
  Batch batch_;
  RunAhead run_ahead_;
  std::string why_no_graph_;
};

std::vector<double> Bench::time(int64_t windows, int64_t steps) {
  std::vector<Event> ends;
  ends.emplace_back(compute_.device()).record(compute_);
  for (int64_t window = 0; window < windows; ++window) {
    run(steps);
    ends.emplace_back(compute_.device()).record(compute_);
  }
  ends.back().wait_on_host();
  std::vector<double> step_s;
  for (size_t i = 1; i < ends.size(); ++i) {
    step_s.push_back(ends[i - 1].seconds_to(ends[i]) / static_cast<double>(steps));
  }
  return step_s;
}

ComputeRate::Parts Bench::time_parts(int64_t steps) {
  std::vector<StepParts> each;
  for (int64_t i = 0; i < steps; ++i) {
    step_.run(batch_, lr_, &each.emplace_back(compute_));
    run_ahead_.limit();
  }
  synchronise(compute_);
  const auto median = [&](double (StepParts::*seconds)() const) {
    std::vector<double> values;
    for (const StepParts& parts : each) values.push_back((parts.*seconds)());
    return percentile(std::move(values), 50);
  };
  return {median(&StepParts::forward_s), median(&StepParts::backward_s), median(&StepParts::optimizer_s)};
}

ComputeRate::Traced Bench::trace(KernelTrace& trace, int64_t steps) {
  trace.start();
  run(2);  // tracing's own first times
  synchronise(compute_);
  trace.stop();
  trace.start();
  const double step_s = time(1, steps).front();
  synchronise(compute_);
  return {step_s, summarise(trace.stop(), steps)};
}

void Bench::let_profiler_record(int64_t steps) {
  synchronise(compute_);
  start_profiler();
  run(steps);
  synchronise(compute_);
  stop_profiler();
}

// Bytes read and written a second by copies within the device's memory, far larger than its caches.
double copy_rate(c10::Stream compute) {
  constexpr int64_t kBytes = 1 << 29;
  constexpr int kCopies = 11;
  const at::TensorOptions bytes = at::TensorOptions(at::kByte).device(compute.device());
  const at::Tensor from = at::zeros({kBytes}, bytes);
  const at::Tensor to = at::empty({kBytes}, bytes);
  std::vector<Event> ends;
  for (int i = 0; i <= kCopies; ++i) {
    to.copy_(from, /*non_blocking=*/true);
    ends.emplace_back(compute.device()).record(compute);
  }
  ends.back().wait_on_host();
  std::vector<double> seconds;
  for (size_t i = 1; i < ends.size(); ++i) seconds.push_back(ends[i - 1].seconds_to(ends[i]));
  return 2.0 * kBytes / percentile(std::move(seconds), 50);
}

int64_t steps_of_a_window(double step_s) {
  return std::clamp<int64_t>(std::llround(kWindowSeconds / step_s), 1, 1000);
}

}  // namespace

double ComputeRate::median_step_s() const { return percentile(step_s, 50); }

ComputeRate measure_compute(const TrainSetup& setup, const ComputeMeasurement& measurement) {
  const c10::Stream compute = make_stream(setup.device, StreamPriority::kNormal);
  const c10::StreamGuard guard(compute);
  const bool on_gpu = setup.device.is_cuda();
  set_global_switches(setup);
  const auto monitor = make_gpu_monitor(setup.device);
  Bench bench(setup, compute);

  ComputeRate rate;
  rate.batch_size = setup.options.batch_size;
  bench.run(on_gpu ? 10 : 1);
  const double warm_step_s = bench.time(1, on_gpu ? 5 : 1).front();
  rate.steps =
      bench.step().whole_groups(measurement.steps > 0 ? measurement.steps : steps_of_a_window(warm_step_s));
  if (monitor) monitor->restart();
  rate.step_s = bench.time(measurement.windows, rate.steps);
  if (monitor) rate.gpu = monitor->use();
  rate.cuda_graph = bench.step().is_recorded();
  rate.why_no_graph = bench.why_no_graph();
  if (on_gpu) {
    rate.peak_bytes = peak_device_memory(setup.device) + bench.step().recorded_bytes();
    rate.reserved_bytes = reserved_device_memory(setup.device);
  }
  if (!rate.cuda_graph) rate.parts = bench.time_parts(rate.steps);
  if (on_gpu) rate.copy_bytes_per_s = copy_rate(compute);

  const int64_t traced_steps = std::min(rate.steps, bench.step().whole_groups(kTracedSteps));
  const auto trace = make_kernel_trace(setup.device);
  if (setup.options.profile) {
    bench.let_profiler_record(traced_steps);
    rate.why_not_traced = "Kernels are the profiler's to time (--profile).";
  } else if (!trace) {
    rate.why_not_traced = "Kernels are timed on a GPU, by the preset 'cuda' (./quickstart.sh --cuda).";
  } else {
    try {
      rate.traced = bench.trace(*trace, traced_steps);
    } catch (const Error& error) {
      rate.why_not_traced = error.what();
    }
  }
  return rate;
}

}  // namespace slipstream
