#include "app/sweep_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <thread>

#include "app/option_table.h"
#include "app/sweep_figures.h"
#include "app/sweep_files.h"
#include "app/sweep_gpus.h"
#include "app/sweep_runner.h"
#include "app/this_process.h"
#include "data/error.h"
#include "pipeline/device_cuda.h"

namespace slipstream {
namespace fs = std::filesystem;
namespace {

struct SweepLine {
  SweepLine() {
    table.group("Sweep");
    table.text("data", data, "DIR", "Folder of images, in place of the sweep's base.data.");
    table.text(
        "out", out, "DIR",
        "Folder for results and the runs' folders; without it runs/ and the file's name. A sweep that was "
        "stopped goes on from there.");
    table.integer("jobs", jobs, 1, 256, "Runs at a time.");
    table.text("gpus", gpus, "LIST",
               "GPUs to use, as 0,2: job 1 has the first, job 2 the second, and so on from the start again. "
               "Without it, all.");
    table.real("timeout", timeout, 0, 1e9, "Seconds after which a run is stopped; 0: never.");
    table.real(
        "grace", grace, 0, 1e6,
        "Seconds that a run has to write its checkpoint once it is asked to stop, before it is killed.");
    table.toggle("retry", retry, "Do the runs again that failed, timed out or ran out of memory.");
    table.group("What is shown");
    table.toggle("dry_run", dry_run, "Check all and list the runs, but start none.");
    table.text(
        "sort", sort, "KEY",
        "Order of the table: epoch_s, images_per_s, top1, loss (each best first), run, status or an option "
        "that differs.");
    table.toggle("best", best, "Name the best run, by --sort where that is a figure, else by top1.");
  }

  std::string file, data, out, gpus, sort;
  int64_t jobs = 1;
  double timeout = 0, grace = 60;
  bool retry = false, dry_run = false, best = false;
  OptionTable table;
};

/// Runs beside each other share the cores: more threads than cores wait for one another at each barrier.
int64_t threads_a_run(int64_t jobs) {
  if (jobs == 1 || std::getenv("OMP_NUM_THREADS") != nullptr) return 0;
  return std::max<int64_t>(1, std::thread::hardware_concurrency() / jobs);
}

void show(const SweepLine& line, const SweepPlan& plan, const SweepFolder& folder,
          const std::vector<SweepRow>& rows) {
  std::vector<SweepRow> sorted = rows;
  if (!line.sort.empty()) sort_rows(sorted, line.sort);
  fmt::print("\n{}", sweep_table(plan, sorted));
  if (!line.best) return;
  const std::string key = find_figure(line.sort) != nullptr ? line.sort : "top1";
  const SweepRow* best = best_row(sorted, key);
  if (best == nullptr) return fmt::print("\nNo run is done that has a {}.\n", key);
  fmt::print("\nBest by {}: {}, with {}. Its options: {}/config.json\n", key, best->run->name,
             figure_cell(*find_figure(key), best->result), folder.run_folder(*best->run));
}

int exit_code(int signal, const SweepFolder& folder, const std::vector<SweepRow>& rows) {
  std::fflush(stdout);
  if (signal != 0) {
    fmt::print(stderr, "slipstream: Stopped; the same command goes on.\n");
    return 128 + signal;
  }
  const auto failed = std::count_if(rows.begin(), rows.end(), [](const SweepRow& row) {
    return row.result == nullptr || row.result->status != RunStatus::kDone;
  });
  if (failed == 0) return 0;
  fmt::print(stderr,
             "slipstream: {} of {} runs are not done; their output is in {}. --retry does them again.\n",
             failed, rows.size(), folder.file("runs"));
  return 1;
}

int run(SweepLine& line) {
  line.table.read_flags();
  const SweepPlan plan = plan_sweep(read_sweep_file(line.file), line.data);
  if (!line.sort.empty()) check_sort_key(plan, line.sort);
  const auto gpus = gpus_to_use(line.gpus, std::getenv("CUDA_VISIBLE_DEVICES"), cuda_device_count());
  check_runs(plan);
  const SweepFolder folder(line.out.empty() ? "runs/" + fs::path(line.file).stem().string() : line.out);
  folder.require_free(plan);
  if (line.dry_run) {
    const auto due = due_runs(plan, SweepResults(folder.file("results.jsonl")), line.retry);
    fmt::print("{} of {} runs to do, into {}:\n\n{}", due.size(), plan.runs.size(), folder.file("runs"),
               plan_table(plan));
    return 0;
  }

  const UniqueFd lock = folder.lock();
  folder.remove_partials();
  SweepResults results(folder.file("results.jsonl"));
  const auto due = due_runs(plan, results, line.retry);
  fmt::print("{} of {} runs to do, into {}.\n", due.size(), plan.runs.size(), folder.file("runs"));
  std::fflush(stdout);
  const RunSettings settings = {this_executable(), line.timeout, line.grace, lock.get(),
                                threads_a_run(line.jobs)};
  const int signal =
      SweepRunner(plan, results, folder, settings, line.jobs, gpus, console_of_stdout()).run(due);
  const std::vector<SweepRow> rows = sweep_rows(plan, results);
  write_sweep_files(folder, plan, rows);
  show(line, plan, folder, rows);
  return exit_code(signal, folder, rows);
}

}  // namespace

Command add_sweep_command(CLI::App& app) {
  const auto line = std::make_shared<SweepLine>();
  CLI::App* command =
      add_command(app, "sweep", "Train with each of many combinations of options, and compare.");
  command
      ->add_option("FILE", line->file,
                   "The sweep: JSON with base, grid, runs, repeats and name, which docs/sweeps.md explains.")
      ->required();
  line->table.add_flags(*command);
  return {command, [line] { return run(*line); }};
}

}  // namespace slipstream
