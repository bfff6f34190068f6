#include "pipeline/trainer.h"

#include <c10/core/StreamGuard.h>
#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <optional>

#include "data/epoch_order.h"
#include "data/error.h"
#include "models/weights.h"
#include "pipeline/batch_loader.h"
#include "pipeline/bottleneck.h"
#include "pipeline/checkpoint.h"
#include "pipeline/compute_setup.h"
#include "pipeline/evaluate.h"
#include "pipeline/gpu_monitor.h"
#include "pipeline/host_clock.h"
#include "pipeline/index_folder.h"
#include "pipeline/lr_schedule.h"
#include "pipeline/profile_window.h"
#include "pipeline/profiler.h"
#include "pipeline/run_ahead.h"
#include "pipeline/step_log.h"
#include "pipeline/stop_signal.h"
#include "pipeline/synthetic_source.h"
#include "pipeline/trace.h"
#include "pipeline/train_setup.h"
#include "pipeline/train_step.h"

namespace slipstream {
namespace {
namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int64_t kImageNetImages = 1281167;  // an epoch of synthetic batches

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Folders {
  ImageFolder training;
  std::optional<ImageFolder> validation;
};

Folders index_folders(const TrainSetup& setup, RunObserver& observer) {
  Folders folders;
  if (setup.options.synthetic) {
    folders.training.classes.resize(kImageNetClasses);
    return folders;
  }
  const auto progress = [&](int64_t done, int64_t classes, int64_t files) {
    observer.on_indexed(done, classes, files);
  };
  const int threads = indexing_threads();
  folders.training = index_folder(setup.train_dir, threads, progress);
  if (!setup.val_dir.empty()) {
    folders.validation = index_validation_folder(setup.val_dir, folders.training, threads, progress);
  }
  return folders;
}

std::unique_ptr<BatchSource> make_source(const TrainSetup& setup, c10::Stream compute, Trace* trace) {
  LoaderOptions loader = setup.loader_options(compute);
  loader.trace = trace;
  if (setup.options.synthetic) return std::make_unique<SyntheticSource>(loader, kImageNetClasses);
  return std::make_unique<BatchLoader>(loader);
}

std::unique_ptr<Trace> make_trace(const TrainSetup& setup, c10::Stream compute) {
  if (setup.options.trace.empty()) return nullptr;
  return std::make_unique<Trace>(setup.schedule_name(), setup.loader_options(compute),
                                 setup.options.trace_steps);
}

class Trainer {
 public:
  Trainer(TrainSetup setup, RunObserver& observer);
  RunResult run();

 private:
  // One epoch, in the order of its work.
  void train_epoch();
  std::optional<Evaluation> validate();
  void report_epoch(double wall_s, const std::optional<Evaluation>& evaluation);

  void resume();
  void prepare_step();
  std::optional<Batch> next_batch();
  void run_step(const Batch& batch);
  bool is_between_updates() const { return position_.step % options_.grad_accum_steps == 0; }
  double epochs_done() const;
  void keep_pace(RunAhead& run_ahead, int64_t sequence);
  void hand_over_trace();
  Trace* trace_of(int64_t sequence) const;
  Pass training_pass(int64_t epoch, int64_t first_step) const;
  Pass validation_pass() const;
  void notice_bad_files(const Batch& batch);
  void notice_other_size(const Batch& batch);
  void show_progress(const char* phase, int64_t step, int64_t steps);
  void save() const;
  RunIdentity identity() const;

  TrainSetup setup_;
  const TrainOptions& options_;
  RunObserver& observer_;
  c10::Stream compute_;
  c10::StreamGuard compute_guard_;
  Folders folders_;
  int64_t steps_;  // of an epoch
  ResNet model_;
  TrainStep step_;
  std::unique_ptr<Trace> trace_;
  StepLog log_;
  std::unique_ptr<GpuMonitor> monitor_;
  std::optional<ProfileWindow> profile_;
  std::optional<double> alone_images_per_s_;
  bool told_of_other_size_ = false;
  bool handed_over_ = false;  // the trace
  RunPosition position_;
  std::optional<float> latest_loss_;
  double lr_ = 0;
  Clock::time_point epoch_start_;
  int64_t first_step_ = 0;               // of this process in the epoch
  std::unique_ptr<BatchSource> source_;  // last: its threads end first
};

int64_t steps_per_epoch(const TrainOptions& options, const ImageFolder& folder) {
  const int64_t images = options.synthetic ? kImageNetImages : static_cast<int64_t>(folder.samples.size());
  // The last batch is left out if it isn't full: cuDNN's choices and batch norm prefer one size. So is the
  // last group of batches for one step of the optimizer.
  int64_t steps = std::max<int64_t>(1, images / options.batch_size);
  if (options.limit_batches > 0) steps = std::min(steps, options.limit_batches);
  if (steps < options.grad_accum_steps) {
    throw UsageError(fmt::format(
        "--grad-accum-steps {} is more than an epoch's {} {} of --batch-size {}: make one of them smaller",
        options.grad_accum_steps, steps, steps == 1 ? "batch" : "batches", options.batch_size));
  }
  return steps - steps % options.grad_accum_steps;
}

Trainer::Trainer(TrainSetup setup, RunObserver& observer)
    : setup_(std::move(setup)),
      options_(setup_.options),
      observer_(observer),
      compute_(make_stream(setup_.device, StreamPriority::kNormal)),
      compute_guard_(compute_),
      folders_(index_folders(setup_, observer)),
      steps_(steps_per_epoch(options_, folders_.training)),
      model_(make_model(setup_, static_cast<int64_t>(folders_.training.classes.size()))),
      step_(model_, setup_),
      trace_(make_trace(setup_, compute_)),
      log_(compute_, options_.log_interval, schedule_of(options_.mode).threads, trace_.get(),
           [this](const StepRecord& record) {
             latest_loss_ = record.loss;
             if (options_.reports) observer_.on_step(record);
           }),
      monitor_(options_.reports ? make_gpu_monitor(setup_.device) : nullptr),
      source_(make_source(setup_, compute_, trace_.get())) {}

RunResult Trainer::run() {
  const StopSignal stop_signal;
  resume();
  observer_.on_start(position_.epoch, position_.step);
  if (position_.epoch > options_.epochs) {
    observer_.on_message(fmt::format("All {} epochs are done already.", options_.epochs));
  }
  prepare_step();
  if (trace_) trace_->limit_to(std::min(options_.trace_steps, steps_ - position_.step));
  source_->enqueue(training_pass(position_.epoch, position_.step));
  for (; position_.epoch <= options_.epochs; ++position_.epoch, position_.step = 0, position_.totals = {}) {
    if (folders_.validation) source_->enqueue(validation_pass());
    train_epoch();
    const double wall_s = seconds_since(epoch_start_);
    hand_over_trace();
    if (StopSignal::requested() != 0) {
      save();
      return {StopSignal::requested()};
    }
    if (position_.epoch < options_.epochs) source_->enqueue(training_pass(position_.epoch + 1, 0));
    report_epoch(wall_s, validate());
    save();
  }
  save_weights((fs::path(options_.out) / "model.pt").string(), model_);
  return {};
}

void Trainer::prepare_step() {
  const std::string why_no_graph =
      step_.prepare({options_.batch_size, 3, options_.image_size, options_.image_size});
  if (!why_no_graph.empty()) observer_.on_message(why_no_graph);
  synchronise(compute_);
  if (options_.alone_seconds > 0) {
    SyntheticSource batches(setup_.loader_options(compute_), std::ssize(folders_.training.classes));
    alone_images_per_s_ =
        static_cast<double>(options_.batch_size) / step_.time_alone(batches, options_.alone_seconds);
  }
  if (options_.profile) profile_.emplace(compute_, steps_ - position_.step);
}

void Trainer::train_epoch() {
  if (monitor_) monitor_->restart();
  reset_peak_device_memory(setup_.device);
  epoch_start_ = Clock::now();
  first_step_ = position_.step;
  log_.begin_epoch(position_.totals);
  RunAhead run_ahead(compute_);
  while (const auto batch = next_batch()) {
    notice_bad_files(*batch);
    notice_other_size(*batch);
    lr_ = learning_rate(options_, epochs_done());

    if (profile_) profile_->begin_step();
    run_step(*batch);
    keep_pace(run_ahead, batch->sequence);
    if (profile_) profile_->end_step();
    show_progress("train", position_.step, steps_);
    if (StopSignal::requested() != 0 && is_between_updates()) break;
  }
  log_.flush();
  position_.totals = log_.totals();
}

// When the optimizer stepped last, so that all batches of one step have one learning rate.
double Trainer::epochs_done() const {
  const int64_t updated = position_.step - position_.step % options_.grad_accum_steps;
  return static_cast<double>(position_.epoch - 1) +
         static_cast<double>(updated) / static_cast<double>(steps_);
}

std::optional<Batch> Trainer::next_batch() {
  const ProfileRange range(options_.profile, "wait for input");
  const double begin_s = host_seconds();
  log_.begin_wait();
  std::optional<Batch> batch = source_->next();
  log_.end_wait();
  if (Trace* trace = batch ? trace_of(batch->sequence) : nullptr) {
    trace->add(
        {TraceWork::kWaitForInput, trace->training_thread(), begin_s, host_seconds(), batch->sequence});
  }
  return batch;
}

void Trainer::run_step(const Batch& batch) {
  const TraceScope scope(trace_of(batch.sequence), TraceWork::kQueueStep, 0, batch.sequence);
  log_.begin_step();
  const at::Tensor metrics = step_.run(batch, lr_);
  source_->release(batch);
  ++position_.step;
  const auto images = batch.count - static_cast<int64_t>(batch.bad_files.size());
  log_.end_step(batch, {.epoch = position_.epoch, .step = position_.step, .images = images, .lr = lr_},
                metrics);
}

void Trainer::keep_pace(RunAhead& run_ahead, int64_t sequence) {
  const TraceScope scope(trace_of(sequence), TraceWork::kWaitForDevice, 0, sequence);
  if (schedule_of(options_.mode).wait_each) synchronise(compute_);
  run_ahead.limit();
}

Trace* Trainer::trace_of(int64_t sequence) const {
  return trace_ && trace_->wants(sequence) ? trace_.get() : nullptr;
}

void Trainer::hand_over_trace() {
  if (!trace_ || handed_over_) return;
  handed_over_ = true;
  observer_.on_trace(*trace_);
}

std::optional<Evaluation> Trainer::validate() {
  if (!folders_.validation) return std::nullopt;
  const ProfileRange range(options_.profile, "validate");
  const int64_t steps = validation_pass().end_batch;
  int64_t step = 0;
  return evaluate(model_, *source_, setup_, compute_, [&](const Batch& batch) {
    notice_bad_files(batch);
    show_progress("validate", ++step, steps);
  });
}

void Trainer::report_epoch(double wall_s, const std::optional<Evaluation>& evaluation) {
  const StepTotals& totals = log_.totals();
  const StageTimes& times = totals.times;
  EpochReport report;
  report.epoch = position_.epoch;
  report.mode = mode_name(options_.mode);
  report.decode = setup_.decoder_name();
  report.images = totals.images;
  report.wall_s = wall_s;
  report.images_per_s = static_cast<double>((steps_ - first_step_) * options_.batch_size) / wall_s;
  if (alone_images_per_s_) {
    report.alone_images_per_s = alone_images_per_s_;
    report.alone_share = report.images_per_s / *alone_images_per_s_;
  }
  if (options_.reports) {
    report.compute_s = times.compute_s;
    report.data_wait_s = times.data_wait_s;
    if (first_step_ == 0) report.other_s = wall_s - times.compute_s - times.data_wait_s;
    if (!options_.synthetic) {
      report.read_s = times.read_s;
      report.decode_s = times.decode_s;
      report.resize_s = times.resize_s;
      report.h2d_s = times.h2d_s;
      report.hidden_share = hidden_share(times, setup_);
    }
  }
  if (monitor_) report.gpu = monitor_->use();
  if (setup_.device.is_cuda())
    report.gpu_mem_bytes = peak_device_memory(setup_.device) + step_.recorded_bytes();
  report.train_loss = totals.loss / static_cast<double>(totals.images);
  report.train_top1 = totals.right / static_cast<double>(totals.images);
  if (evaluation) {
    report.val_loss = evaluation->loss;
    report.val_top1 = evaluation->top1;
    report.val_top5 = evaluation->top5;
  }
  report.bottleneck = bottleneck(times, wall_s, setup_, report.gpu);
  observer_.on_epoch(report);
}

void Trainer::resume() {
  if (options_.resume.empty()) return;
  const std::string own = (fs::path(options_.out) / "checkpoint.pt").string();
  const std::string path = options_.resume == "auto" ? own : options_.resume;
  if (options_.resume == "auto" && !fs::exists(path)) {
    return observer_.on_message(fmt::format("{} is not there yet: starting from the first epoch.", path));
  }
  position_ = load_checkpoint(path, model_, step_, identity());
  if (!is_between_updates()) {
    throw Error(
        fmt::format("{}: it stands after step {} of an epoch, amid the {} batches of one step of the "
                    "optimizer; resume with the --grad-accum-steps that it was made with",
                    path, position_.step, options_.grad_accum_steps));
  }
  if (position_.step >= steps_) {
    throw Error(
        fmt::format("{}: it stands after step {} of an epoch that now has {}; resume with the same "
                    "--limit-batches",
                    path, position_.step, steps_));
  }
}

Pass Trainer::training_pass(int64_t epoch, int64_t first_step) const {
  Pass pass{&folders_.training, /*training=*/true, epoch, {}, first_step, steps_};
  if (epoch > options_.epochs) pass.end_batch = first_step;
  if (!options_.synthetic) {
    pass.order = epoch_order(folders_.training.samples.size(), static_cast<uint64_t>(options_.seed),
                             static_cast<uint64_t>(epoch));
  }
  return pass;
}

Pass Trainer::validation_pass() const {
  return evaluation_pass(*folders_.validation, options_.batch_size, options_.limit_batches);
}

void Trainer::notice_bad_files(const Batch& batch) {
  for (const BadFile& file : batch.bad_files) observer_.on_bad_file(file.path, file.why);
}

void Trainer::notice_other_size(const Batch& batch) {
  if (!step_.is_recorded() || step_.is_recorded(batch) || told_of_other_size_) return;
  told_of_other_size_ = true;
  observer_.on_message(
      fmt::format("--cuda-graph: the graph is of {} images, so a batch of {} is trained on without it.",
                  options_.batch_size, batch.count));
}

void Trainer::show_progress(const char* phase, int64_t step, int64_t steps) {
  const double elapsed = seconds_since(epoch_start_);
  const int64_t done = position_.step - first_step_;
  Progress progress;
  progress.phase = phase;
  progress.epoch = position_.epoch;
  progress.epochs = options_.epochs;
  progress.step = step;
  progress.steps = steps;
  progress.images_per_s = static_cast<double>(done * options_.batch_size) / elapsed;
  progress.loss = latest_loss_;
  progress.lr = lr_;
  progress.data_wait_share = log_.totals().times.data_wait_s / elapsed;
  const int64_t steps_left = steps_ * (options_.epochs - position_.epoch + 1) - position_.step;
  progress.left_s =
      elapsed / static_cast<double>(std::max<int64_t>(1, done)) * static_cast<double>(steps_left);
  observer_.on_progress(progress);
}

void Trainer::save() const {
  RunPosition position = position_;
  if (position.step == steps_) position = {position_.epoch + 1, 0, {}};
  save_checkpoint((fs::path(options_.out) / "checkpoint.pt").string(), model_, step_, position, identity());
}

RunIdentity Trainer::identity() const {
  return {options_.arch, static_cast<int64_t>(folders_.training.classes.size()),
          static_cast<int64_t>(folders_.training.samples.size()), options_.batch_size, options_.seed};
}

}  // namespace

RunResult train(const TrainOptions& options, RunObserver& observer) {
  TrainSetup setup = resolve(options);
  set_global_switches(setup);
  return Trainer(std::move(setup), observer).run();
}

}  // namespace slipstream
