#pragma once

#include <string>

#include "app/sweep_plan.h"
#include "data/unique_fd.h"

namespace slipstream {

/// The folder that a sweep leaves: results.jsonl, results.json, results.csv, and a folder a run in runs/.
class SweepFolder {
 public:
  explicit SweepFolder(std::string path) : path_(std::move(path)) {}

  std::string file(const char* name) const { return path_ + "/" + name; }
  std::string run_folder(const PlannedRun& run) const { return path_ + "/runs/" + run.name; }

  /// Makes the folder and takes it for this process and the children that its lock is handed to. Waits for
  /// those of a sweep that was killed; throws Error if another sweep still works there after that time.
  UniqueFd lock(double patience_s = 10) const;

  /// Throws UsageError if a run's folder holds another run, or something else.
  void require_free(const SweepPlan& plan) const;

  /// Removes what a killed process left half-written beside the sweep's own files.
  void remove_partials() const;

  /// Readies a run's folder, with its options in config.json, and says whether it has a checkpoint to go on
  /// from. `anew`: even if it has, begin with an empty folder.
  bool prepare(const PlannedRun& run, bool anew) const;

 private:
  std::string path_;
};

}  // namespace slipstream
