#include "app/sweep_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/nearest.h"
#include "app/train_options_table.h"
#include "data/error.h"

namespace slipstream {
namespace {

const std::vector<std::string> kSections = {"base", "grid", "runs", "repeats", "name"};
constexpr int64_t kMostRepeats = 1000;

[[noreturn]] void refuse(const PlacedJson& file, const std::string& path, const std::string& why) {
  throw UsageError(fmt::format("{}{}", file.place(path), why));
}

void check_key(const PlacedJson& file, const std::string& path, const std::string& key) {
  if (key == "out" || key == "resume") {
    refuse(file, path, ": the sweep chooses it for each run; its own folder is --out on the command line.");
  }
  TrainOptions options;
  train_options_table(options).require(file.place(path), key);
}

/// Whether train's option table takes the value; it is tried on options of its own.
void check_value(const PlacedJson& file, const std::string& path, const std::string& key, const Json& value) {
  TrainOptions options;
  train_options_table(options).set(file.place(path), key, value);
}

void check_options(const PlacedJson& file, const std::string& path, const Json& options) {
  if (!options.is_object()) {
    refuse(file, path, fmt::format(" must be an object of options, not {}.", options.type_name()));
  }
  for (const auto& [key, value] : options.items()) {
    check_key(file, path + "." + key, key);
    check_value(file, path + "." + key, key, value);
  }
}

void check_values(const PlacedJson& file, const std::string& path, const std::string& key,
                  const Json& values) {
  if (!values.is_array()) {
    refuse(file, path, fmt::format(" must be an array of values, such as [{}].", values.dump()));
  }
  if (values.empty()) refuse(file, path, " has no values: name some, or leave it out.");
  for (size_t i = 0; i < values.size(); ++i) {
    const std::string element = fmt::format("{}[{}]", path, i);
    check_value(file, element, key, values[i]);
    const auto first =
        static_cast<size_t>(std::find(values.begin(), values.end(), values[i]) - values.begin());
    if (first < i) refuse(file, element, fmt::format(" repeats {}[{}].", path, first));
  }
}

void read_grid(SweepFile& sweep, const Json& grid) {
  const PlacedJson& file = sweep.file;
  if (!grid.is_object()) {
    refuse(file, "grid", fmt::format(" must be an object of arrays, not {}.", grid.type_name()));
  }
  if (grid.empty()) refuse(file, "grid", " is empty: name an option and its values, or leave it out.");
  for (const auto& [key, values] : grid.items()) {
    check_key(file, "grid." + key, key);
    check_values(file, "grid." + key, key, values);
    sweep.grid.emplace_back(key, values);
  }
}

void read_runs(SweepFile& sweep, const Json& runs) {
  if (!runs.is_array()) {
    refuse(sweep.file, "runs", fmt::format(" must be an array of objects, not {}.", runs.type_name()));
  }
  if (runs.empty()) refuse(sweep.file, "runs", " is empty: add an object of options, or leave it out.");
  for (size_t i = 0; i < runs.size(); ++i) {
    check_options(sweep.file, fmt::format("runs[{}]", i), runs[i]);
    sweep.runs.push_back(runs[i]);
  }
}

void read_repeats(SweepFile& sweep, const Json& repeats) {
  IntegerField(sweep.repeats, 1, kMostRepeats).set_json(sweep.file.place("repeats"), repeats);
}

void read_name(SweepFile& sweep, const Json& name) {
  TextField(sweep.name, "TEXT").set_json(sweep.file.place("name"), name);
  if (sweep.name.empty()) refuse(sweep.file, "name", " is empty: leave it out to have names made.");
}

}  // namespace

SweepFile read_sweep_file(const std::string& path) {
  SweepFile sweep;
  sweep.file = read_placed_json(path);
  for (const auto& [key, value] : sweep.file.value.items()) {
    if (key == "base") {
      check_options(sweep.file, key, value);
      sweep.base = value;
    } else if (key == "grid") {
      read_grid(sweep, value);
    } else if (key == "runs") {
      read_runs(sweep, value);
    } else if (key == "repeats") {
      read_repeats(sweep, value);
    } else if (key == "name") {
      read_name(sweep, value);
    } else {
      refuse(sweep.file, key,
             fmt::format(": a sweep has no such part; did you mean {}?", nearest(key, kSections)));
    }
  }
  if (sweep.grid.empty() && sweep.runs.empty()) {
    refuse(sweep.file, "", ": there is nothing to run; add a grid, or runs.");
  }
  return sweep;
}

}  // namespace slipstream
