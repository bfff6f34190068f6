#include "app/tune_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "app/batch_sizes.h"
#include "app/comma_list.h"
#include "app/doctor_machine.h"
#include "app/images_folder.h"
#include "app/train_options_table.h"
#include "data/error.h"

namespace slipstream {
namespace fs = std::filesystem;
namespace {

constexpr int64_t kMostPrefetch = 64;   // as --prefetch
constexpr int64_t kWorkersPerCore = 2;  // more never paid; two may, where reading waits for a disk
constexpr double kUsualTrials = 12;     // that the budget is for
constexpr double kLongestTrial = 30;    // seconds; more would tell little more

}  // namespace

TuneLine::TuneLine() : train(train_options_table(options)), flags(train_options_table(options)) {
  flags.drop({"out", "resume", "synthetic", "alone_seconds", "log_interval", "profile", "trace",
              "trace_steps", "reports"});
  flags.group("Tuning");
  flags.real("budget", budget, 1, 1e6, "Seconds that all trials may take.");
  flags.real("trial", trial, 0, 1e6,
             "Seconds that a trial goes on, start-up included; longer until there are ten steps or so, and "
             "two seconds of them. 0: a twelfth of --budget, at most 30.");
  flags.text("batch_sizes", batch_sizes, "LIST",
             "Batch sizes to try, too, as 64,128,256. Another one changes what a training learns.");
  flags.text("out", out, "FILE", "Where the configuration goes, for train --config.");
  json.add_to(flags);
}

void TuneLine::read() {
  if (!config.empty()) train.read_file(config);
  flags.read_flags();
  check();
  options.synthetic = false;
  options.resume.clear();
  if (!options.train_dir.empty()) return;
  // As compare does, it takes a folder of classes, too.
  if (const std::string images = images_folder(options.data, "train"); images == options.data) {
    options.train_dir = images;
    options.data.clear();
  }
}

void TuneLine::check() const {
  if (options.mode == Mode::kSerial) {
    throw UsageError("--mode serial has no threads to tune: leave it out, for overlapped, or take pinned.");
  }
  if (fs::is_directory(out)) throw UsageError(fmt::format("--out {}: is a folder; name a file.", out));
  json.require_place(/*coming=*/fs::path(out).parent_path().string());
  if (kLeastTrials * trial > budget) {
    throw UsageError(fmt::format(
        "--trial {}: {} trials are the least, and --budget {} has no room for them; give a shorter "
        "--trial, or a larger --budget.",
        trial, kLeastTrials, budget));
  }
}

TuneLimits TuneLine::limits(int64_t images) const {
  require_images_for("--batch-size", options.batch_size, images);
  return {.budget_s = budget,
          .most_workers = kWorkersPerCore * machine_facts().cores,
          .most_prefetch = kMostPrefetch,
          .batch_sizes = listed_batch_sizes(batch_sizes, images)};
}

double TuneLine::trial_s() const {
  if (trial > 0) return trial;
  const size_t sizes = batch_sizes.empty() ? 0 : comma_parts(batch_sizes).size();
  return std::min(kLongestTrial, budget / (kUsualTrials + static_cast<double>(sizes)));
}

}  // namespace slipstream
