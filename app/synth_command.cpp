#include "app/synth_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>

#include "app/option_table.h"
#include "data/error.h"
#include "data/synth.h"

namespace slipstream {
namespace fs = std::filesystem;
namespace {

struct SynthLine {
  SynthLine() {
    table.group("Images");
    table.integer("classes", options.classes, 2, kSynthClasses, "Classes, each with a pattern of its own.");
    table.integer("train", options.train_per_class, 1, 1'000'000, "Training images of each class.");
    table.integer("val", options.val_per_class, 0, 1'000'000, "Validation images of each class; 0: no val/.");
    table.integer("seed", seed, 0, INT64_MAX, "Number that all images derive from.");
    table.integer("max_size", options.max_size, 16, 8192, "Longest side of an image in pixels.");
  }

  SynthOptions options;
  int64_t seed = 0;
  OptionTable table;
  bool force = false;
};

void require_empty(const std::string& folder) {
  std::error_code ignored;
  if (fs::exists(folder, ignored) && !fs::is_empty(folder, ignored)) {
    throw UsageError(fmt::format(
        "{} is not empty: name a new folder, or add --force to put train/ and val/ beside what is there.",
        folder));
  }
}

int run(SynthLine& line) {
  line.table.read_flags();
  SynthOptions& options = line.options;
  options.seed = static_cast<uint64_t>(line.seed);
  options.min_size = std::min(options.min_size, options.max_size);
  if (!line.force) require_empty(options.folder);

  const bool terminal = isatty(STDOUT_FILENO) == 1;
  int64_t images = 0;
  write_synth(options, [&](int64_t done, int64_t total) {
    images = total;
    if (!terminal || (done % 16 != 0 && done != total)) return;
    fmt::print("\r{} of {} images\x1b[K", done, total);
    std::fflush(stdout);
  });
  fmt::print("{}{}: {} images of {} classes.\n", terminal ? "\r\x1b[K" : "", options.folder, images,
             options.classes);
  return 0;
}

}  // namespace

Command add_synth_command(CLI::App& app) {
  const auto line = std::make_shared<SynthLine>();
  CLI::App* command = add_command(app, "synth", "Generate a folder of images to try a training run on.");
  command->add_option("DIR", line->options.folder, "Folder that gets train/ and val/.")->required();
  command->add_flag("--force", line->force, "Write into a folder that is not empty.");
  line->table.add_flags(*command);
  return {command, [line] { return run(*line); }};
}

}  // namespace slipstream
