#include "app/tune_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/batch_sizes.h"
#include "app/device_name.h"
#include "app/doctor_machine.h"
#include "app/images_folder.h"
#include "app/json_file.h"
#include "app/json_output.h"
#include "app/scratch_folder.h"
#include "app/this_process.h"
#include "app/train_options_table.h"
#include "app/tune_meter.h"
#include "app/tune_record.h"
#include "app/tune_search.h"
#include "app/tune_text.h"
#include "app/units.h"
#include "data/error.h"
#include "pipeline/index_folder.h"
#include "pipeline/stop_signal.h"
#include "pipeline/train_setup.h"

namespace slipstream {
namespace fs = std::filesystem;
namespace {

constexpr int64_t kMostPrefetch = 64;  // as --prefetch
constexpr double kUsualTrials = 12;    // that a budget is for: with fewer the search ends early
constexpr double kLongestTrial = 30;   // seconds; longer ones would tell little more

struct TuneLine {
  TuneLine() {
    flags.drop({"out", "resume", "synthetic", "alone_steps", "log_interval", "profile", "trace",
                "trace_steps", "reports"});
    flags.group("Tuning");
    flags.real("budget", budget, 1, 1e6, "Seconds that all trials may take.");
    flags.real(
        "trial", trial, 0, 1e6,
        "Seconds that a trial goes on, start-up included, but ten steps or so at least; 0: a twelfth of "
        "--budget, at most 30.");
    flags.text("batch_sizes", batch_sizes, "LIST",
               "Batch sizes to try, too, as 64,128,256. Another one changes what a training learns.");
    flags.text("out", out, "FILE", "The configuration, for train --config.");
    json.add_to(flags);
  }

  TrainOptions options;
  OptionTable train = train_options_table(options);  // of --config's file
  OptionTable flags = train_options_table(options);
  std::string config, batch_sizes, out = "tuned.json";
  double budget = 180, trial = 0;
  JsonOutput json;
};

void read(TuneLine& line) {
  if (!line.config.empty()) line.train.read_file(line.config);
  line.flags.read_flags();
  TrainOptions& options = line.options;
  if (options.mode == Mode::kSerial) {
    throw UsageError("--mode serial has no threads to tune: leave it out, for overlapped, or take pinned.");
  }
  options.synthetic = false;
  options.resume.clear();
  if (fs::is_directory(line.out))
    throw UsageError(fmt::format("--out {}: is a folder; name a file.", line.out));
  if (!options.train_dir.empty()) return;
  // As compare does, it takes a folder of classes, too.
  if (const std::string images = images_folder(options.data, "train"); images == options.data) {
    options.train_dir = images;
    options.data.clear();
  }
}

TuneLimits limits_of(const TuneLine& line, int64_t images) {
  return {.budget_s = line.budget,
          .most_workers = 2 * machine_facts().cores,
          .most_prefetch = kMostPrefetch,
          .batch_sizes = listed_batch_sizes(line.batch_sizes, images)};
}

/// What people read while it goes on; nothing where the standard output is for JSON.
class Told {
 public:
  explicit Told(bool quiet) : console_(console_of_stdout()) {
    if (!quiet) lines_.emplace(std::cout, console_);
  }
  const Console& console() const { return console_; }
  void print(const std::string& text) {
    if (lines_) lines_->print(text);
  }
  ProgressLine* progress() { return lines_ && console_.terminal ? &*lines_ : nullptr; }

 private:
  Console console_;
  std::optional<ProgressLine> lines_;
};

std::string title(const TuneLine& line, const TrainSetup& setup, size_t images) {
  return fmt::format("Tuning --workers and --prefetch{} for {} images, {} at {} px, {}, on {}; {} at most.\n",
                     line.batch_sizes.empty() ? "" : ", and the batch size,", images, line.options.arch,
                     line.options.image_size, setup.schedule_name(), device_name(line.options.device),
                     seconds_text(line.budget));
}

Json record(const TuneLine& line, const TuneResult& result, const std::vector<std::string>& sentences,
            const Json& config) {
  Json all = {{"kind", "tune"},
              {"version", 1},
              {"device", device_name(line.options.device)},
              {"command", this_command_line()},
              {"budget_s", line.budget}};
  all.update(tune_record(result));
  all["sentences"] = sentences;
  all["file"] = line.out;
  all["config"] = config;
  return all;
}

TuneResult search(const TuneLine& line, const TuneLimits& limits, const TuneSettings& start, Told& told) {
  const ScratchFolder scratch(line.out);
  const double trial_s =
      line.trial > 0
          ? line.trial
          : std::min(kLongestTrial,
                     line.budget / (kUsualTrials + static_cast<double>(limits.batch_sizes.size())));
  TuneMeter meter(line.options, scratch.path(), trial_s, told.console());
  const bool names_batch = !limits.batch_sizes.empty();
  const auto measure = [&](TrialKind kind, const TuneSettings& settings, double timeout_s) {
    return meter.measure(kind, settings, timeout_s, told.progress());
  };
  const auto tell = [&](const Trial& trial) { told.print(trial_line(trial, names_batch)); };
  return TuneSearch(limits, measure, tell).run(start);
}

int run(TuneLine& line) {
  read(line);
  const TrainSetup setup = resolve(line.options);
  const ImageFolder images =
      index_folder(setup.train_dir, indexing_threads(), [](int64_t, int64_t, int64_t) {});
  const TuneLimits limits = limits_of(line, static_cast<int64_t>(images.samples.size()));
  const TuneSettings start = {.workers = setup.options.workers,
                              .prefetch = setup.options.prefetch,
                              .batch_size = setup.options.batch_size};
  const StopSignal stop_signal;
  Told told(line.json.alone());
  told.print(title(line, setup, images.samples.size()));
  TuneResult result;
  try {
    result = search(line, limits, start, told);
  } catch (const StoppedBySignal& signal) {
    fmt::print(stderr, "slipstream: Stopped; nothing is written.\n");
    return 128 + signal.number;
  }

  const TuneContext context = {.names_batch = !limits.batch_sizes.empty(),
                               .shares_cores = !setup.device.is_cuda(),
                               .lr = line.options.lr};
  const std::vector<std::string> sentences = tune_sentences(result, context);
  const Json config = tuned_config(line.options, result.chosen);
  write_json(line.out, config);
  told.print("");
  for (const std::string& sentence : sentences) told.print(sentence);
  told.print(
      fmt::format("\n{}, for slipstream train --config {}:\n{}", line.out, line.out, json_text(config)));
  line.json.write(record(line, result, sentences, config));
  return 0;
}

}  // namespace

Command add_tune_command(CLI::App& app) {
  const auto line = std::make_shared<TuneLine>();
  CLI::App* command = add_command(
      app, "tune", "Find workers, prefetch and, if asked, batch size for this machine and folder.");
  command
      ->add_option("--config", line->config,
                   "JSON file of train's options to start from; flags on the command line beat it.")
      ->type_name("FILE");
  line->flags.add_flags(*command);
  return {command, [line] { return run(*line); }};
}

}  // namespace slipstream
