#pragma once

#include <string>
#include <vector>

#include "app/json.h"
#include "app/sweep_file.h"

namespace slipstream {

/// A run of a sweep, resolved.
struct PlannedRun {
  std::string name;   ///< also that of its folder
  std::string place;  ///< of its description, for sentences: "FILE.json:7: runs[2]"
  Json config;        ///< all of train's options but `out` and `resume`; equal means that the runs are equal
};

/// A run's configuration without `out` and `resume`, which the sweep chooses.
Json without_own_keys(Json config);

struct SweepPlan {
  std::vector<PlannedRun> runs;
  std::vector<std::string> differing;  ///< the options whose values are not the same in all runs
};

/// The grid's combinations, the last option varying fastest, then the listed runs; each `repeats` times, the
/// r-th with its seed raised by r. `data`, where not empty, stands for base's. Throws UsageError for runs
/// that are the same or would share a name, and for a name's template that can't be filled in.
SweepPlan plan_sweep(const SweepFile& sweep, const std::string& data = {});

/// Throws UsageError for the first run that `train` would refuse, with its sentence.
void check_runs(const SweepPlan& plan);

}  // namespace slipstream
