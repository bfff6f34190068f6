#include "pipeline/input_bench.h"

#include <c10/core/StreamGuard.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <memory>
#include <utility>

#include "data/epoch_order.h"
#include "pipeline/batch_loader.h"
#include "pipeline/gpu_monitor.h"
#include "pipeline/host_clock.h"
#include "pipeline/percentile.h"

namespace slipstream {
namespace {
using Clock = std::chrono::steady_clock;

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// Takes batches of a folder without end and gives each back at once.
class Consumer {
 public:
  Consumer(const LoaderOptions& options, const ImageFolder& folder)
      : options_(options), folder_(folder), loader_(options) {}

  struct Taken {
    int64_t sequence;
    int64_t images;
    int64_t bad_files;
    std::shared_ptr<InputTimes> times;
    Event handed_over;  ///< on the compute stream
  };
  Taken take();

 private:
  Batch next();
  void enqueue_pass();

  LoaderOptions options_;
  const ImageFolder& folder_;
  int64_t epoch_ = 0;
  int64_t ahead_ = 0;  // batches enqueued and not taken
  BatchLoader loader_;
};

Consumer::Taken Consumer::take() {
  const double begin_s = host_seconds();
  const Batch batch = next();
  if (Trace* trace = options_.trace; trace != nullptr && trace->wants(batch.sequence)) {
    trace->add({TraceWork::kWaitForInput, trace->training_thread(), begin_s, host_seconds(), batch.sequence});
  }
  const auto bad_files = static_cast<int64_t>(batch.bad_files.size());
  Taken taken{batch.sequence, batch.count - bad_files, bad_files, batch.times,
              Event(options_.compute.device())};
  taken.handed_over.record(options_.compute);
  loader_.release(batch);
  if (options_.schedule.wait_each) synchronise(options_.compute);
  return taken;
}

Batch Consumer::next() {
  while (ahead_ <= options_.prefetch) enqueue_pass();  // the ring must not run dry
  std::optional<Batch> batch = loader_.next();
  if (!batch) batch = loader_.next();  // that was a pass's end
  --ahead_;
  return std::move(*batch);
}

// A folder that is smaller than a batch stands in the pass several times.
void Consumer::enqueue_pass() {
  Pass pass{.folder = &folder_, .training = true};
  while (static_cast<int64_t>(pass.order.size()) < options_.batch_size) {
    const auto order = epoch_order(folder_.samples.size(), options_.seed, static_cast<uint64_t>(++epoch_));
    pass.order.insert(pass.order.end(), order.begin(), order.end());
  }
  pass.epoch = epoch_;
  pass.end_batch = static_cast<int64_t>(pass.order.size()) / options_.batch_size;
  ahead_ += pass.end_batch;
  loader_.enqueue(std::move(pass));
}

/// Adds up what was taken, in order and without making the host wait.
class Sums {
 public:
  /// `start`: the hand-over that was at `start_s` by host_seconds(). `trace` may be null.
  Sums(Event start, double start_s, Trace* trace)
      : last_(std::move(start)), last_s_(start_s), trace_(trace) {}

  void add(Consumer::Taken taken);
  /// Blocks until all is added up.
  void finish();
  int64_t batches() const { return batches_; }
  void report_to(InputRate& rate) const;

 private:
  void add_first_waiting();

  int64_t batches_ = 0;
  std::deque<Consumer::Taken> waiting_;  // for their events
  Event last_;                           // hand-over of the batch before those
  double last_s_;                        // when it was
  Trace* trace_;
  std::vector<double> latencies_;
  InputRate sums_;
};

void Sums::add(Consumer::Taken taken) {
  ++batches_;
  waiting_.push_back(std::move(taken));
  while (!waiting_.empty() && waiting_.front().handed_over.passed()) add_first_waiting();
}

void Sums::finish() {
  for (; !waiting_.empty(); add_first_waiting()) waiting_.front().handed_over.wait_on_host();
}

void Sums::add_first_waiting() {
  Consumer::Taken& first = waiting_.front();
  latencies_.push_back(last_.seconds_to(first.handed_over));
  sums_.images += first.images;
  sums_.bad_files += first.bad_files;
  sums_.wall_s += latencies_.back();
  sums_.times += first.times->stage_times();
  last_s_ += latencies_.back();
  if (trace_ != nullptr && trace_->wants(first.sequence)) {
    trace_->add_input(*first.times, first.sequence, first.handed_over, last_s_);
  }
  last_ = std::move(first.handed_over);
  waiting_.pop_front();
}

void Sums::report_to(InputRate& rate) const {
  rate.images = sums_.images;
  rate.bad_files = sums_.bad_files;
  rate.wall_s = sums_.wall_s;
  rate.times = sums_.times;
  rate.latency_p50_s = percentile(latencies_, 50);
  rate.latency_p95_s = percentile(latencies_, 95);
  rate.latency_p99_s = percentile(latencies_, 99);
}

bool is_enough(int64_t taken, int64_t wanted, Clock::duration elapsed) {
  if (wanted > 0) return taken >= wanted;
  return taken >= 10 && elapsed >= std::chrono::seconds(5);
}

}  // namespace

InputRate measure_input(const TrainSetup& setup, const ImageFolder& folder, int64_t batches) {
  const c10::Stream compute = make_stream(setup.device, StreamPriority::kNormal);
  const c10::StreamGuard guard(compute);
  LoaderOptions options = setup.loader_options(compute);
  options.times = true;
  const auto trace = setup.options.trace.empty()
                         ? nullptr
                         : std::make_shared<Trace>(setup.schedule_name(), options, setup.options.trace_steps);
  options.trace = trace.get();
  const auto monitor = make_gpu_monitor(setup.device);
  Consumer consumer(options, folder);

  // Every slot was used once, and no batch that was prepared while nobody took any is left.
  const int64_t warm_up = options.schedule.threads ? 2 * options.prefetch : 2;
  std::vector<Consumer::Taken> before;
  for (int64_t i = 0; i < warm_up; ++i) before.push_back(consumer.take());
  Event start = std::move(before.back().handed_over);
  Event base(setup.device);
  const double base_s = record_and_await(base, compute);
  const double start_s = base_s - start.seconds_to(base);
  for (const Consumer::Taken& taken : before) {
    if (trace && trace->wants(taken.sequence)) {
      trace->add_input(*taken.times, taken.sequence, start, start_s);
    }
  }

  if (monitor) monitor->restart();
  const double cpu_before = cpu_seconds();
  const Clock::time_point begin = Clock::now();
  Sums sums(std::move(start), start_s, trace.get());
  while (!is_enough(sums.batches(), batches, Clock::now() - begin)) sums.add(consumer.take());
  sums.finish();

  InputRate rate;
  rate.mode = mode_name(setup.options.mode);
  rate.decode = setup.decoder_name();
  rate.cpu_s = cpu_seconds() - cpu_before;
  if (monitor) rate.jpeg_util = monitor->use().jpeg_engines;
  sums.report_to(rate);
  rate.trace = trace;
  return rate;
}

}  // namespace slipstream
