#pragma once

#include <filesystem>
#include <string>

#include "app/json.h"

namespace slipstream::test {

/// A run's figures, from which its files are made.
struct RunOnDisk {
  std::string mode = "serial";
  std::string decode = "cpu";
  double compute_s = 0.05, wait_s = 0.05;  ///< of each step but the very first, which takes ten times as long
  int epochs = 2, steps = 20;              ///< steps of an epoch, of 8 images each
  double top1 = 0.5;                       ///< of the last validation
  bool steps_file = true, utilisation = false, trace = false;
};

/// The options that a run of the fixtures has in config.json.
Json config_of(const RunOnDisk& run);

/// The folder that `train` leaves, with --trace and utilisation.csv where asked for: report.json, epochs.csv,
/// steps.jsonl, config.json.
void write_run(const std::filesystem::path& folder, const RunOnDisk& run);

/// A compare of two rounds of serial, overlapped and synthetic; the second round is the slower one.
void write_compare(const std::filesystem::path& folder,
                   const std::string& sentence = "overlapped is 1.8x serial; input is hidden to 98.0%");
Json compare_json(const std::string& sentence = "");

/// A sweep's results.json and runs over every combination of the grid's values; with more, the last failed.
void write_sweep(const std::filesystem::path& folder, const Json& grid);

}  // namespace slipstream::test
