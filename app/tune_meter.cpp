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
#include "app/train_options_table.h"
#include "app/tune_text.h"
#include "pipeline/stop_signal.h"

namespace slipstream {
namespace fs = std::filesystem;
namespace {

constexpr int64_t kLeastWarmUp = 3;  // steps: memory is asked for, cuDNN chooses
constexpr size_t kLeastSteps = 6;    // that are measured
constexpr double kLeastSeconds = 2;  // that these take: a slow start-up leaves less of a trial
constexpr int64_t kLogInterval =
    4;  // steps that come at a time; few, since the end of a trial waits for them
constexpr double kBetweenReads = 0.25;  // seconds: reading the steps takes from the cores that train
constexpr int64_t kForever = 1'000'000;

/// What all trials share, as `train --config` reads it.
Json trial_config(TrainOptions options) {
  options.epochs = kForever;  // until it is stopped
  options.alone_seconds = 0;
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

size_t least_steps(const TuneSettings& settings) { return least_warm_up(settings) + kLeastSteps; }

std::string progress_text(const std::string& what, double elapsed_s, double trial_s) {
  return fmt::format("{}: {:.0f} s of about {:.0f}", what, elapsed_s, std::max(elapsed_s, trial_s));
}

Measured failed(const SweepResult& result, size_t steps, size_t needed) {
  Measured measured = {.took_s = result.run_s, .failure = failure_words(result)};
  measured.timed_out = result.status == RunStatus::kTimedOut;
  if (measured.timed_out && steps > 0) {
    measured.again_s = result.run_s * static_cast<double>(needed) / static_cast<double>(steps);
  }
  return measured;
}

}  // namespace

TuneMeter::TuneMeter(const TrainOptions& training, TuneMeterOptions options, Console console)
    : config_(trial_config(training)),
      options_(std::move(options)),
      folder_(options_.scratch),
      console_(std::move(console)) {}

PlannedRun TuneMeter::planned(TrialKind kind, const TuneSettings& settings) {
  if (options_.other_images) config_["seed"] = config_["seed"].get<int64_t>() + 1;  // the order depends on it
  PlannedRun run = {.name = "trial", .place = trial_name(kind, settings, true), .config = config_};
  run.config["workers"] = settings.workers;
  run.config["prefetch"] = settings.prefetch;
  run.config["batch_size"] = settings.batch_size;
  run.config["synthetic"] = kind == TrialKind::kCeiling;
  if (kind == TrialKind::kCeiling) run.config["weights"] = "";  // they are for the folder's classes
  return run;
}

bool TuneMeter::is_enough(const std::vector<StepRecord>& steps, const TuneSettings& settings) const {
  return steps.size() >= least_steps(settings) &&
         rate_of(steps, settings).seconds >= std::min(kLeastSeconds, options_.trial_s);
}

Measured TuneMeter::measure(TrialKind kind, const TuneSettings& settings, double timeout_s,
                            ProgressLine* progress) {
  const PlannedRun planned_run = planned(kind, settings);
  const std::string steps_file = folder_.run_folder(planned_run) + "/steps.jsonl";
  const double start_s = console_.now();
  double read_s = start_s;
  const auto has_enough = [&] {
    const double now = console_.now();
    if (progress != nullptr && progress->is_due()) {
      progress->show(progress_text(planned_run.place, now - start_s, options_.trial_s));
    }
    if (now - start_s < options_.trial_s || now - read_s < kBetweenReads) return false;
    read_s = now;
    return is_enough(read_steps(steps_file), settings);
  };
  const RunSettings run_settings = {.executable = options_.executable, .timeout_s = std::max(timeout_s, 0.1)};
  SweepRun run(planned_run, folder_, /*anew=*/true, /*gpu=*/"", run_settings, start_s);
  const auto ended_early = watch_run(run, console_, has_enough);
  if (StopSignal::requested() != 0) throw StoppedBySignal{StopSignal::requested()};

  const std::vector<StepRecord> steps = read_steps(steps_file);
  const size_t needed = least_steps(settings);
  const bool is_late = ended_early && ended_early->status == RunStatus::kTimedOut;
  if (ended_early && !(is_late && steps.size() >= needed)) return failed(*ended_early, steps.size(), needed);
  return measured(steps, settings, console_.now() - start_s);
}

Measured TuneMeter::measured(const std::vector<StepRecord>& steps, const TuneSettings& settings,
                             double took_s) const {
  const SteadyRate rate = rate_of(steps, settings);
  const double step_s = static_cast<double>(settings.batch_size) / rate.images_per_s;
  return {.images_per_s = rate.images_per_s,
          .plus_minus = rate.plus_minus,
          .data_wait_share = rate.data_wait_share,
          .took_s = took_s,
          .again_s = std::max(options_.trial_s, static_cast<double>(least_steps(settings)) * step_s)};
}

}  // namespace slipstream
