#include "app/tune_meter.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "app/report/steps_file.h"
#include "app/run_watch.h"
#include "app/steady_rate.h"
#include "app/sweep_run.h"
#include "app/this_process.h"
#include "app/train_options_table.h"
#include "app/tune_text.h"
#include "app/units.h"
#include "pipeline/stop_signal.h"

namespace slipstream {
namespace fs = std::filesystem;
namespace {

constexpr int64_t kLeastWarmUp = 3;  // steps: memory is asked for, cuDNN chooses
constexpr size_t kLeastSteps = 6;    // that are measured
constexpr int64_t kLogInterval =
    4;  // steps that come at a time; few, since the end of a trial waits for them
constexpr double kBetweenReads = 0.25;  // seconds: reading the steps takes from the cores that train
constexpr int64_t kForever = 1'000'000;

/// What all trials share, as `train --config` reads it.
Json trial_config(TrainOptions options) {
  options.epochs = kForever;  // until it is stopped
  options.alone_steps = 0;
  options.log_interval = kLogInterval;
  options.reports = true;
  options.profile = false;
  options.trace.clear();
  // Nothing is validated.
  if (options.train_dir.empty()) options.train_dir = (fs::path(options.data) / "train").string();
  options.data.clear();
  options.val_dir.clear();
  return without_own_keys(train_options_table(options).json());
}

/// The ring is at its steady length after as many steps as it has slots.
size_t least_warm_up(const TuneSettings& settings) {
  return static_cast<size_t>(std::max(kLeastWarmUp, settings.prefetch));
}

SteadyRate rate_of(const std::vector<StepRecord>& steps, const TuneSettings& settings) {
  constexpr size_t kPart = 5;  // of a fast machine's steps the first fifth
  return steady_rate(steps, std::max(least_warm_up(settings), steps.size() / kPart));
}

std::string progress_text(const std::string& what, double elapsed_s, double trial_s) {
  return fmt::format("{}: {} of about {}", what, seconds_text(elapsed_s), seconds_text(trial_s));
}

}  // namespace

TuneMeter::TuneMeter(const TrainOptions& options, std::string scratch, double trial_s, bool other_images,
                     const Console& console)
    : config_(trial_config(options)),
      folder_(std::move(scratch)),
      executable_(this_executable()),
      trial_s_(trial_s),
      other_images_(other_images),
      console_(console) {}

Measured TuneMeter::measure(TrialKind kind, const TuneSettings& settings, double timeout_s,
                            ProgressLine* progress) {
  PlannedRun planned = {.name = "trial", .place = trial_name(kind, settings, true), .config = config_};
  planned.config["workers"] = settings.workers;
  planned.config["prefetch"] = settings.prefetch;
  planned.config["batch_size"] = settings.batch_size;
  planned.config["synthetic"] = kind == TrialKind::kCeiling;
  if (other_images_) config_["seed"] = config_["seed"].get<int64_t>() + 1;  // which the order depends on
  const std::string steps_file = folder_.run_folder(planned) + "/steps.jsonl";
  const size_t needed = least_warm_up(settings) + kLeastSteps;

  const double start_s = console_.now();
  double read_s = start_s;
  const auto has_enough = [&] {
    const double now = console_.now();
    if (progress != nullptr && progress->is_due()) {
      progress->show(progress_text(planned.place, now - start_s, trial_s_));
    }
    if (now - start_s < trial_s_ || now - read_s < kBetweenReads) return false;
    read_s = now;
    return read_steps(steps_file).size() >= needed;
  };
  const RunSettings run_settings = {.executable = executable_, .timeout_s = std::max(timeout_s, 0.1)};
  SweepRun run(planned, folder_, /*anew=*/true, /*gpu=*/"", run_settings, start_s);
  const auto failed = watch_run(run, console_, has_enough);
  if (StopSignal::requested() != 0) throw StoppedBySignal{StopSignal::requested()};

  Measured measured = {.took_s = console_.now() - start_s};
  const std::vector<StepRecord> steps = read_steps(steps_file);
  if (failed) {
    measured.failure = failure_words(*failed);
    measured.timed_out = failed->status == RunStatus::kTimedOut;
    if (measured.timed_out && !steps.empty()) {
      const double share = static_cast<double>(steps.size()) / static_cast<double>(needed);
      measured.needed_s = measured.took_s / std::min(1.0, share);
    }
    return measured;
  }
  const SteadyRate rate = rate_of(steps, settings);
  measured.images_per_s = rate.images_per_s;
  measured.plus_minus = rate.plus_minus;
  measured.data_wait_share = rate.data_wait_share;
  return measured;
}

}  // namespace slipstream
