#include "app/report/input.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "app/json_places.h"
#include "app/report/epoch_figures.h"
#include "app/report/steps_file.h"
#include "app/run_names.h"
#include "app/run_report.h"
#include "app/sweep_plan.h"
#include "data/error.h"

namespace slipstream {
namespace fs = std::filesystem;
namespace {

/// The configuration in report.json; that beside it in config.json where a report has none.
Json config_of(const std::string& folder) {
  const Json report = read_placed_json(folder + "/report.json").value;
  if (report.contains("config") && report.at("config").is_object()) return report.at("config");
  return fs::exists(folder + "/config.json") ? read_placed_json(folder + "/config.json").value
                                             : Json::object();
}

ReportRun read_run(const std::string& name, const std::string& folder) {
  return {.name = name,
          .folder = folder,
          .config = config_of(folder),
          .epochs = read_run_report(folder + "/report.json"),
          .steps = read_steps(folder + "/steps.jsonl"),
          .busy = read_utilisation(folder + "/utilisation.csv")};
}

/// How far a run's last epoch is from the row's median.
double distance(const ReportRun& run, const ReportCompareRow& row) {
  const auto wall = last_epoch_figure(run.epochs, "wall_s");
  return wall && row.epoch_s ? std::abs(*wall - row.epoch_s->median) : INFINITY;
}

ReportRun median_run(const ReportCompareRow& row, const std::string& folder) {
  std::vector<ReportRun> rounds;
  for (const std::string& run : row.runs) rounds.push_back(read_run(row.name, folder + "/" + run));
  return *std::min_element(rounds.begin(), rounds.end(), [&](const ReportRun& a, const ReportRun& b) {
    return distance(a, row) < distance(b, row);
  });
}

ReportCompare read_compare(const std::string& name, const std::string& folder) {
  ReportCompare compare{.name = name, .file = read_compare_file(folder + "/compare.json"), .runs = {}};
  for (const ReportCompareRow& row : compare.file.rows) compare.runs.push_back(median_run(row, folder));
  return compare;
}

std::vector<SweepResult> read_results(const std::string& file) {
  const PlacedJson placed = read_placed_json(file, Json::value_t::array);
  std::vector<SweepResult> results;
  for (size_t at = 0; at < placed.value.size(); ++at) {
    try {
      results.push_back(result_of(placed.value[at]));
    } catch (const std::exception& error) {
      throw UsageError(fmt::format("{}: not a result of a sweep. {}", placed.place(fmt::format("[{}]", at)),
                                   error.what()));
    }
  }
  if (results.empty()) throw UsageError(fmt::format("{}: no run of the sweep has ended yet.", file));
  return results;
}

ReportSweep read_sweep(const std::string& name, const std::string& folder) {
  ReportSweep sweep{
      .name = name, .results = read_results(folder + "/results.json"), .differing = {}, .runs = {}};
  std::vector<const Json*> configs;
  for (const SweepResult& result : sweep.results) {
    configs.push_back(&result.config);
    const std::string run = folder + "/runs/" + result.name;
    if (fs::exists(run + "/report.json")) sweep.runs.push_back(read_run(result.name, run));
  }
  sweep.differing = differing_options(configs);
  return sweep;
}

bool holds(const std::string& folder, const char* file) { return fs::exists(folder + "/" + file); }

}  // namespace

ReportInput read_report_input(const std::vector<std::string>& folders) {
  const std::vector<std::string> names = run_names(folders);
  ReportInput input;
  for (size_t at = 0; at < folders.size(); ++at) {
    const std::string& folder = folders[at];
    if (!fs::is_directory(folder)) throw UsageError(fmt::format("{}: no such folder.", folder));
    if (holds(folder, "compare.json")) {
      input.compares.push_back(read_compare(names[at], folder));
    } else if (holds(folder, "results.json")) {
      input.sweeps.push_back(read_sweep(names[at], folder));
    } else if (holds(folder, "report.json")) {
      input.runs.push_back(read_run(names[at], folder));
    } else {
      throw UsageError(
          fmt::format("{}: holds no report.json, compare.json or results.json; name folders that train, "
                      "compare or sweep wrote (their --out).",
                      folder));
    }
  }
  return input;
}

std::vector<std::string> differing_options(const std::vector<const Json*>& configs) {
  std::vector<std::string> keys;
  for (const Json* config : configs) {
    const Json options = without_own_keys(*config);
    for (const auto& [key, value] : options.items()) {
      const bool differs = std::ranges::any_of(configs, [&key = key, &value = value](const Json* other) {
        return !other->contains(key) || other->at(key) != value;
      });
      if (differs && std::ranges::find(keys, key) == keys.end()) keys.push_back(key);
    }
  }
  return keys;
}

}  // namespace slipstream
