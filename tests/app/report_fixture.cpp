#include "tests/app/report_fixture.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "app/json_file.h"
#include "app/records.h"
#include "app/sweep_results.h"
#include "tests/support/test_support.h"

namespace slipstream::test {
namespace fs = std::filesystem;
namespace {

constexpr int kImages = 8;       // of a step
constexpr double kOther = 0.02;  // s of an epoch, beside its steps

struct Times {
  double compute_s = 0, wait_s = 0;
};

Times times_of(const RunOnDisk& run, int epoch, int step) {
  const bool first = epoch == 1 && step == 1;
  return {run.compute_s * (first ? 10 : 1), run.wait_s};
}

EpochReport epoch_of(const RunOnDisk& run, int epoch) {
  EpochReport report{.epoch = epoch, .mode = run.mode, .decode = run.decode, .images = kImages * run.steps};
  double compute = 0, wait = 0;
  for (int step = 1; step <= run.steps; ++step) {
    const Times times = times_of(run, epoch, step);
    compute += times.compute_s;
    wait += times.wait_s;
  }
  report.wall_s = compute + wait + kOther;
  report.images_per_s = static_cast<double>(report.images) / report.wall_s;
  report.compute_s = compute;
  report.data_wait_s = wait;
  report.read_s = 0.1, report.decode_s = 0.6, report.resize_s = 0.2, report.h2d_s = 0.1;
  report.hidden_share = std::clamp(1 - wait, 0.0, 1.0);
  report.gpu.kernels = compute / report.wall_s;
  report.train_loss = 2.0 / epoch;
  report.train_top1 = run.top1 / 2;
  report.val_loss = 2.5 / epoch;
  report.val_top1 = run.top1 * epoch / run.epochs;
  report.val_top5 = 0.9;
  report.bottleneck = "Input-bound: compute waits for data; try --workers 4.";
  return report;
}

std::string steps_of(const RunOnDisk& run) {
  std::string lines;
  for (int epoch = 1; epoch <= run.epochs; ++epoch) {
    for (int step = 1; step <= run.steps; ++step) {
      const Times times = times_of(run, epoch, step);
      StepRecord record{.epoch = epoch, .step = step, .images = kImages};
      record.loss = 3.0F / static_cast<float>(epoch * run.steps + step);
      record.times = {.read_s = 0.005, .decode_s = 0.03, .resize_s = 0.01, .h2d_s = 0.005};
      record.times.compute_s = times.compute_s;
      record.times.data_wait_s = times.wait_s;
      lines += step_line(record);
    }
  }
  return lines;
}

/// Bins as long as a step, so that each is busy for the step's share of compute.
std::string utilisation_of(const RunOnDisk& run) {
  std::string rows = "time_s,busy\n";
  const double bin = run.compute_s + run.wait_s;
  for (int at = 0; at < run.epochs * run.steps; ++at) {
    rows += fmt::format("{:.4f},{:.4f}\n", at * bin, run.compute_s / bin);
  }
  return rows;
}

Json named(int thread, const std::string& name) {
  return {{"ph", "M"}, {"name", "thread_name"}, {"pid", 1}, {"tid", thread}, {"args", {{"name", name}}}};
}

Json span(int thread, const std::string& name, double begin_s, double length_s) {
  return {{"ph", "X"},     {"name", name},        {"cat", "slipstream"},   {"pid", 1},
          {"tid", thread}, {"ts", begin_s * 1e6}, {"dur", length_s * 1e6}, {"args", {{"batch", 1}}}};
}

/// Two tracks: a worker that decodes while the step waits, and the steps; batches joined by flow arrows.
Json trace_of(const RunOnDisk& run) {
  Json events = Json::array({named(7, "worker 1"), named(9, "compute stream")});
  double now = 0;
  for (int step = 1; step <= run.steps; ++step) {
    const Times times = times_of(run, 1, step);
    events.push_back(span(7, "wait for input", now, times.wait_s));
    events.push_back(span(7, "read", now, times.wait_s / 4));
    events.push_back(span(7, "decode", now + times.wait_s / 4, times.wait_s / 2));
    events.push_back(
        {{"ph", "s"}, {"id", step}, {"name", "batch"}, {"pid", 1}, {"tid", 7}, {"ts", now * 1e6}});
    now += times.wait_s;
    events.push_back(
        {{"ph", "f"}, {"id", step}, {"name", "batch"}, {"pid", 1}, {"tid", 9}, {"ts", now * 1e6}});
    events.push_back(span(9, fmt::format("step {}", step), now, times.compute_s));
    now += times.compute_s;
  }
  return {{"traceEvents", events}, {"displayTimeUnit", "ms"}};
}

Json row_of(const std::string& name, const RunOnDisk& run, const std::string& folder, bool synthetic) {
  const double wall = run.steps * (run.compute_s + run.wait_s) + kOther;
  const auto spread = [](double value) {
    return Json{{"median", value}, {"min", value}, {"max", value * 1.1}};
  };
  return {{"name", name},
          {"mode", run.mode},
          {"decode", run.decode},
          {"synthetic", synthetic},
          {"runs", {"round1/" + folder, "round2/" + folder}},
          {"epoch_s", spread(wall)},
          {"images_per_s", spread(run.steps * kImages / wall)},
          {"speedup", 2.02 / wall},
          {"data_wait_share", run.steps * run.wait_s / wall},
          {"hidden_share", synthetic ? Json() : Json(0.5)},
          {"gpu_utilisation",
           synthetic ? Json() : Json{{"mean", run.steps * run.compute_s / wall}, {"dips", 0.25}}},
          {"ceiling_share", 0.75},
          {"losses_agree", synthetic ? Json() : Json(true)}};
}

RunOnDisk slower(RunOnDisk run) {
  run.compute_s *= 1.1;
  run.wait_s *= 1.1;
  return run;
}

struct Row {
  std::string name, folder;
  RunOnDisk run;
};

std::vector<Row> compare_rows() {
  return {{"serial, CPU decode", "serial-cpu", {.utilisation = true, .trace = true}},
          {"overlapped, CPU decode",
           "overlapped-cpu",
           {.mode = "overlapped", .wait_s = 0.001, .utilisation = true, .trace = true}},
          {"synthetic", "synthetic", {.mode = "overlapped", .wait_s = 0}}};
}

}  // namespace

Json config_of(const RunOnDisk& run) {
  return {{"data", "images"},
          {"arch", "resnet18"},
          {"mode", run.mode},
          {"decode", run.decode},
          {"workers", 2},
          {"batch_size", kImages},
          {"lr", 0.1},
          {"seed", 1},
          {"synthetic", run.mode != "serial" && run.wait_s == 0}};
}

void write_run(const fs::path& folder, const RunOnDisk& run) {
  fs::create_directories(folder);
  Json config = config_of(run);
  config["out"] = folder.string();
  Json epochs = Json::array();
  for (int epoch = 1; epoch <= run.epochs; ++epoch) epochs.push_back(epoch_record(epoch_of(run, epoch)));
  write_json(folder / "config.json", config);
  write_json(folder / "report.json", {{"version", "0.1.0"}, {"config", config}, {"epochs", epochs}});
  write_text(folder / "epochs.csv", epochs_csv(epochs));
  if (run.steps_file) write_text(folder / "steps.jsonl", steps_of(run));
  if (run.utilisation) write_text(folder / "utilisation.csv", utilisation_of(run));
  if (run.trace) write_json(folder / "trace.json", trace_of(run));
}

Json compare_json(const std::string& sentence) {
  Json rows = Json::array();
  for (const Row& row : compare_rows()) {
    rows.push_back(row_of(row.name, row.run, row.folder, row.name == "synthetic"));
  }
  return {{"kind", "compare"},
          {"version", 1},
          {"device", "NVIDIA H200"},
          {"command", "slipstream compare --data <b>"},
          {"rounds", 2},
          {"sentence", sentence},
          {"losses_agree", true},
          {"rows", rows}};
}

void write_compare(const fs::path& folder, const std::string& sentence) {
  for (const Row& row : compare_rows()) {
    write_run(folder / "round1" / row.folder, row.run);
    write_run(folder / "round2" / row.folder, slower(row.run));
  }
  write_json(folder / "compare.json", compare_json(sentence));
}

void write_sweep(const fs::path& folder, const Json& grid) {
  std::vector<Json> configs = {config_of({})};
  for (const auto& [key, values] : grid.items()) {
    std::vector<Json> longer;
    for (const Json& config : configs) {
      for (const Json& value : values) {
        Json& next = longer.emplace_back(config);
        next[key] = value;
      }
    }
    configs = std::move(longer);
  }
  Json results = Json::array();
  for (size_t at = 0; at < configs.size(); ++at) {
    const std::string name = fmt::format("run-{}", at + 1);
    const RunOnDisk run{.compute_s = 0.05 + 0.01 * static_cast<double>(at),
                        .top1 = 0.1 * static_cast<double>(at + 1)};
    write_run(folder / "runs" / name, run);
    SweepResult result{.name = name, .config = configs[at], .status = RunStatus::kDone};
    result.run_s = 3;
    result.epoch = epoch_record(epoch_of(run, run.epochs));
    if (at + 1 == configs.size()) {
      result.status = RunStatus::kFailed;
      result.error = "It ended with <1>.";
      result.epoch = nullptr;
    }
    results.push_back(result_record(result));
  }
  write_json(folder / "results.json", results);
}

}  // namespace slipstream::test
