#include "app/sweep_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <map>

#include "app/sweep_name.h"
#include "app/train_options_table.h"
#include "data/error.h"
#include "pipeline/train_setup.h"

namespace slipstream {
namespace {

constexpr size_t kMostRuns = 10'000;
constexpr size_t kLongestName = 200;  // file systems take 255 bytes

/// A run before its repetitions: the place of its description and the options that it sets.
struct Described {
  std::string place;
  Json options;
};

/// `options` in place of base's.
Json overlaid(Json options, const Json& upon) {
  for (const auto& [key, value] : upon.items()) options[key] = value;
  return options;
}

std::vector<Described> combinations(const SweepFile& sweep) {
  std::vector<Described> all;
  if (sweep.grid.empty()) return all;
  const std::string place = sweep.file.place("grid");
  all.push_back({place, sweep.base});
  for (const auto& [key, values] : sweep.grid) {
    std::vector<Described> longer;
    if (all.size() * values.size() > kMostRuns) {
      throw UsageError(fmt::format("{} makes more than {} runs.", place, kMostRuns));
    }
    for (const Described& run : all) {
      for (const Json& value : values) longer.push_back({place, overlaid(run.options, {{key, value}})});
    }
    all = std::move(longer);
  }
  return all;
}

std::vector<Described> described_runs(const SweepFile& sweep) {
  std::vector<Described> all = combinations(sweep);
  for (size_t i = 0; i < sweep.runs.size(); ++i) {
    all.push_back({sweep.file.place(fmt::format("runs[{}]", i)), overlaid(sweep.base, sweep.runs[i])});
  }
  if (all.size() * static_cast<size_t>(sweep.repeats) > kMostRuns) {
    throw UsageError(fmt::format("{} makes more than {} runs.", sweep.file.place("repeats"), kMostRuns));
  }
  return all;
}

/// All of train's options, in the table's order, with the repetition's seed.
Json resolved(const Described& run, int64_t repeat) {
  TrainOptions options;
  OptionTable table = train_options_table(options);
  for (const auto& [key, value] : run.options.items()) table.set(run.place, key, value);
  if (options.seed > std::numeric_limits<int64_t>::max() - repeat) {
    throw UsageError(fmt::format("{}: seed {} can't be raised by {} for the last repetition.", run.place,
                                 options.seed, repeat));
  }
  options.seed += repeat;
  return without_own_keys(table.json());
}

std::vector<std::string> differing_keys(const std::vector<PlannedRun>& runs) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : runs.front().config.items()) {
    const bool differs = std::any_of(runs.begin(), runs.end(), [&key = key, &value = value](const auto& run) {
      return run.config.at(key) != value;
    });
    if (differs) keys.push_back(key);
  }
  return keys;
}

void refuse_equal_runs(const std::vector<PlannedRun>& runs) {
  std::map<std::string, size_t> seen;
  for (size_t i = 0; i < runs.size(); ++i) {
    const auto [first, is_new] = seen.emplace(runs[i].config.dump(), i);
    if (is_new) continue;
    throw UsageError(fmt::format("{}: run {} is run {} again: all their options are the same.", runs[i].place,
                                 i + 1, first->second + 1));
  }
}

void name_runs(SweepPlan& plan, const SweepFile& sweep) {
  std::vector<std::string> keys = plan.differing;
  const bool repeats = sweep.repeats > 1;
  if (repeats) std::erase(keys, "seed");  // the repetition says it
  std::string name = sweep.name.empty() ? made_template(keys) : sweep.name;
  if (repeats && name.find("{repeat}") == std::string::npos) name += "-r{repeat}";

  const std::string where = sweep.name.empty() ? sweep.file.place("") : sweep.file.place("name");
  std::map<std::string, size_t> seen;
  for (size_t i = 0; i < plan.runs.size(); ++i) {
    PlannedRun& run = plan.runs[i];
    const auto number = static_cast<int64_t>(i);
    run.name = filled_name(where, name, run.config, number + 1, number % sweep.repeats + 1);
    if (run.name.empty() || run.name[0] == '.' || run.name.size() > kLongestName) {
      throw UsageError(
          fmt::format("{}: run {} would be named '{}'; a name has 1 to {} letters and begins "
                      "with no dot.",
                      where, i + 1, run.name, kLongestName));
    }
    const auto [first, is_new] = seen.emplace(run.name, i);
    if (!is_new) {
      throw UsageError(
          fmt::format("{}: runs {} and {} would both be named '{}'; add what differs, one of {}.", where,
                      first->second + 1, i + 1, run.name, fmt::join(plan.differing, ", ")));
    }
  }
}

}  // namespace

Json without_own_keys(Json config) {
  config.erase("out");
  config.erase("resume");
  return config;
}

SweepPlan plan_sweep(const SweepFile& sweep, const std::string& data) {
  SweepFile file = sweep;
  if (!data.empty()) file.base["data"] = data;
  SweepPlan plan;
  for (const Described& run : described_runs(file)) {
    for (int64_t repeat = 0; repeat < sweep.repeats; ++repeat) {
      plan.runs.push_back({.name = {}, .place = run.place, .config = resolved(run, repeat)});
    }
  }
  refuse_equal_runs(plan.runs);
  plan.differing = differing_keys(plan.runs);
  name_runs(plan, file);
  return plan;
}

void check_runs(const SweepPlan& plan) {
  for (const PlannedRun& run : plan.runs) {
    TrainOptions options;
    OptionTable table = train_options_table(options);
    for (const auto& [key, value] : run.config.items()) table.set(run.place, key, value);
    try {
      if (options.device.starts_with("cuda:") && options.device != "cuda:0") {
        throw UsageError(
            fmt::format("--device {}: a run sees one GPU, as cuda:0; name those to use by the sweep's --gpus",
                        options.device));
      }
      resolve(options);
    } catch (const UsageError& error) {
      throw UsageError(fmt::format("{}: run '{}': {}", run.place, run.name, error.what()));
    }
  }
}

}  // namespace slipstream
