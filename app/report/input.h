#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/json.h"
#include "app/report/compare_file.h"
#include "app/report/utilisation_file.h"
#include "app/sweep_results.h"
#include "pipeline/run_observer.h"

namespace slipstream {

/// What a run left in its folder.
struct ReportRun {
  std::string name;
  std::string folder;
  Json config;
  Json epochs;                    ///< as in report.json
  std::vector<StepRecord> steps;  ///< none where times were not measured
  std::vector<BusyBin> busy;      ///< none where there is no utilisation.csv
};

struct ReportCompare {
  std::string name;
  CompareFile file;
  std::vector<ReportRun> runs;  ///< for each row that of the round whose epoch time is the median
};

struct ReportSweep {
  std::string name;
  std::vector<SweepResult> results;
  std::vector<std::string> differing;  ///< the options whose values are not the same in all of them
  std::vector<ReportRun> runs;         ///< those whose folders are there and hold a report
};

struct ReportInput {
  std::vector<ReportRun> runs;
  std::vector<ReportCompare> compares;
  std::vector<ReportSweep> sweeps;
};

/// Reads folders that train, compare and sweep left, in any mixture. Throws UsageError naming a folder that
/// holds none of these, or the file and the place in it that is broken.
ReportInput read_report_input(const std::vector<std::string>& folders);

/// The options whose values are not the same in all configurations, but for where a run is and how it goes
/// on.
std::vector<std::string> differing_options(const std::vector<const Json*>& configs);

}  // namespace slipstream
