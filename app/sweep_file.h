#pragma once

#include <string>
#include <utility>
#include <vector>

#include "app/json_places.h"

namespace slipstream {

/// A sweep as its file describes it; docs/sweeps.md says what each part does. Every key names an option of
/// `train` and every value is one that it takes.
struct SweepFile {
  PlacedJson file;
  Json base = Json::object();                      ///< options of all runs
  std::vector<std::pair<std::string, Json>> grid;  ///< an option and the array of its values
  std::vector<Json> runs;                          ///< further runs: options that differ from base
  int64_t repeats = 1;
  std::string name;  ///< template of the runs' names; empty: made of what differs
};

/// Reads a sweep. Throws UsageError with the file, line and key of the first thing wrong in it.
SweepFile read_sweep_file(const std::string& path);

}  // namespace slipstream
