#include "app/tune_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/device_name.h"
#include "app/doctor_machine.h"
#include "app/folder_bytes.h"
#include "app/json_file.h"
#include "app/scratch_folder.h"
#include "app/this_process.h"
#include "app/tune_line.h"
#include "app/tune_meter.h"
#include "app/tune_record.h"
#include "app/tune_text.h"
#include "app/units.h"
#include "pipeline/index_folder.h"
#include "pipeline/stop_signal.h"
#include "pipeline/train_setup.h"

namespace slipstream {
namespace {

/// What people read; nothing where the standard output is for JSON.
class Told {
 public:
  explicit Told(bool quiet) : console_(console_of_stdout()) {
    if (!quiet) lines_.emplace(std::cout, console_);
  }
  void print(const std::string& text) {
    if (lines_) lines_->print(text);
  }
  const Console& console() const { return console_; }
  /// Where a line can be rewritten; else null.
  ProgressLine* progress() { return lines_ && console_.terminal ? &*lines_ : nullptr; }

 private:
  Console console_;
  std::optional<ProgressLine> lines_;
};

/// The device's name is for the record, after the trials: to ask for it takes memory of every GPU.
std::string title(const TuneLine& line, const TrainSetup& setup, size_t images) {
  return fmt::format("Tuning workers{} prefetch{} for {} images, {} at {} px, {}, on {}; {} s at most.\n",
                     line.batch_sizes.empty() ? " and" : ",",
                     line.batch_sizes.empty() ? "" : " and batch size", images, setup.options.arch,
                     setup.options.image_size, setup.schedule_name(), setup.device.str(), line.budget);
}

/// Whether a training would find its images in memory, but for the first epoch.
bool fits_in_memory(const ImageFolder& images, Told& told) {
  const int64_t bytes = estimated_bytes(images), memory = machine_facts().available_bytes;
  if (bytes <= memory) return true;
  told.print(fmt::format("The images, about {}, don't fit into memory, {}: each trial reads others.\n",
                         bytes_text(bytes), bytes_text(memory)));
  return false;
}

TuneResult search(const TuneLine& line, const TuneLimits& limits, const TuneSettings& start,
                  bool other_images, Told& told) {
  const ScratchFolder scratch(line.out);
  TuneMeter meter(line.options,
                  {.executable = this_executable(),
                   .scratch = scratch.path(),
                   .trial_s = line.trial_s(),
                   .other_images = other_images},
                  told.console());
  const auto measure = [&](TrialKind kind, const TuneSettings& settings, double timeout_s) {
    return meter.measure(kind, settings, timeout_s, told.progress());
  };
  const auto tell = [&](const Trial& trial) { told.print(trial_line(trial, !limits.batch_sizes.empty())); };
  return TuneSearch(limits, measure, tell).run(start);
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

void finish(const TuneLine& line, const TuneResult& result, const TuneContext& context, Told& told) {
  const std::vector<std::string> sentences = tune_sentences(result, context);
  const Json config = tuned_config(line.options, result.chosen);
  write_json(line.out, config);
  told.print("");
  for (const std::string& sentence : sentences) told.print(sentence);
  told.print(fmt::format("\nWritten for slipstream train --config {}:\n{}", line.out, json_text(config)));
  line.json.write(record(line, result, sentences, config));
}

int run(TuneLine& line) {
  line.read();
  const TrainSetup setup = resolve(line.options);
  const ImageFolder images =
      index_folder(setup.train_dir, indexing_threads(), [](int64_t, int64_t, int64_t) {});
  const TuneLimits limits = line.limits(static_cast<int64_t>(images.samples.size()));
  const TuneSettings start = {.workers = setup.options.workers,
                              .prefetch = setup.options.prefetch,
                              .batch_size = setup.options.batch_size};
  const StopSignal stop_signal;
  Told told(line.json.alone());
  told.print(title(line, setup, images.samples.size()));
  try {
    const TuneResult result = search(line, limits, start, !fits_in_memory(images, told), told);
    finish(line, result,
           {.names_batch = !limits.batch_sizes.empty(),
            .shares_cores = !setup.device.is_cuda(),
            .lr = line.options.lr},
           told);
  } catch (const StoppedBySignal& signal) {
    fmt::print(stderr, "slipstream: Stopped; nothing is written.\n");
    return 128 + signal.number;
  }
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
