#include "app/compare_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>

#include "app/compare_rows.h"
#include "app/compare_runner.h"
#include "app/device_name.h"
#include "app/images_folder.h"
#include "app/json_file.h"
#include "app/this_process.h"
#include "app/train_options_table.h"
#include "data/error.h"
#include "pipeline/index_folder.h"
#include "pipeline/train_setup.h"

namespace slipstream {
namespace fs = std::filesystem;
namespace {

constexpr double kGraceS = 10;  // from SIGTERM to SIGKILL: a run has a checkpoint to write that nobody keeps

struct CompareLine {
  CompareLine() {
    options.epochs = 2;
    options.deterministic = true;
    options.alone_seconds = 0;  // the ceiling has runs of its own
    options.out = "runs/compare";
    table = train_options_table(options);
    table.keep(
        network_options({"epochs", "lr", "seed", "cuda_graph", "grad_accum_steps", "out", "trace_steps"}));
    table.group("Comparison");
    table.text("data", data, "DIR", "Folder of images: a folder a class, or a folder that holds train/.");
    table.integer("rounds", rounds, 1, 1000, "How often each way to train is run, all in turn.");
    table.text("modes", modes, "LIST", "Modes to compare, of serial,pinned,overlapped.");
    table.text("decoders", decoders, "LIST", "Decoders to compare, of cpu,cuda; all: those that there are.");
    table.toggle("trace", trace, "Write each run's trace.json, for ui.perfetto.dev or chrome://tracing.");
  }

  TrainOptions options;
  OptionTable table;
  std::string data, modes = "all", decoders = "all";
  int64_t rounds = 3;
  bool trace = false;
};

CompareResult read_result(const ComparePlan& plan, const std::vector<PlannedRun>& runs,
                          const SweepFolder& folder) {
  std::vector<std::vector<RunFigures>> figures(plan.ways.size());
  for (size_t i = 0; i < runs.size(); ++i) {
    figures[i % plan.ways.size()].push_back(read_run_figures(folder.run_folder(runs[i])));
  }
  return compare_rows(plan, figures);
}

Json record(const CompareLine& line, const CompareResult& result) {
  Json rows = Json::array();
  for (const CompareRow& row : result.rows) rows.push_back(compare_row_record(row));
  return {{"kind", "compare"},
          {"version", 1},
          {"device", device_name(line.options.device)},
          {"command", this_command_line()},
          {"rounds", line.rounds},
          {"sentence", compare_sentence(result.rows)},
          {"deterministic", line.options.deterministic},
          {"losses_agree", result.losses_agree()},
          {"rows", rows}};
}

int show(const CompareLine& line, const CompareResult& result) {
  fmt::print("\n{}\n", compare_rows_table(result.rows));
  for (const std::string& mismatch : result.mismatches) fmt::print("{}\n", mismatch);
  if (!line.options.deterministic && !result.losses_agree()) {
    fmt::print("Without --deterministic kernels may vary from run to run, so that proves nothing.\n");
  }
  fmt::print("{}\n", compare_sentence(result.rows));
  std::fflush(stdout);
  if (result.losses_agree() || !line.options.deterministic) return 0;
  fmt::print(stderr,
             "slipstream: Losses that must be the same are not: a mode or round changes the training.\n");
  return 1;
}

void settle(CompareLine& line) {
  line.options.train_dir = images_folder(line.data, "train");
  if (line.trace) line.options.trace = "auto";
  if (!line.options.cudnn_benchmark || !line.options.deterministic) return;
  line.options.deterministic = false;
  fmt::print("--cudnn-benchmark lets kernels vary from run to run: losses are compared, but may differ.\n");
}

int run(CompareLine& line) {
  line.table.read_flags();
  const auto modes = listed_modes(line.modes);
  const auto decoders = listed_decoders(line.decoders);
  settle(line);
  resolve(line.options);
  const ImageFolder images =
      index_folder(line.options.train_dir, indexing_threads(), [](int64_t, int64_t, int64_t) {});
  const ComparePlan plan =
      plan_compare(line.options, modes, decoders, static_cast<int64_t>(images.samples.size()));
  const std::vector<PlannedRun> runs = interleaved_runs(plan, line.rounds);
  const SweepFolder folder(line.options.out);
  folder.require_free({.runs = runs, .differing = {}});

  const UniqueFd lock = folder.lock();
  fs::remove(folder.file("compare.json"));  // of other runs than those to come
  for (const std::string& sentence : plan.skipped) fmt::print("{}\n", sentence);
  fmt::print("{} ways to train, {} round{}, into {}.\n", plan.ways.size(), line.rounds,
             line.rounds == 1 ? "" : "s", folder.file("runs"));
  std::fflush(stdout);
  const RunSettings settings = {
      .executable = this_executable(), .timeout_s = 0, .grace_s = kGraceS, .lock = lock.get(), .threads = 0};
  if (const int signal = run_in_turn(runs, folder, settings, console_of_stdout()); signal != 0) {
    fmt::print(stderr, "slipstream: Stopped; the same command begins anew.\n");
    return 128 + signal;
  }
  const CompareResult result = read_result(plan, runs, folder);
  write_json(folder.file("compare.json"), record(line, result));
  return show(line, result);
}

}  // namespace

Command add_compare_command(CLI::App& app) {
  const auto line = std::make_shared<CompareLine>();
  CLI::App* command = add_command(
      app, "compare", "Train the same in each mode, with each decoder and without input, and compare.");
  line->table.add_flags(*command);
  return {command, [line] { return run(*line); }};
}

}  // namespace slipstream
