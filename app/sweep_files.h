#pragma once

#include <vector>

#include "app/sweep_folder.h"
#include "app/sweep_table.h"

namespace slipstream {

/// results.csv: a row a run with what differs, the figures, status and error; nothing between commas for
/// null.
std::string sweep_csv(const SweepPlan& plan, const std::vector<SweepRow>& rows);

/// Writes results.csv and results.json, an array of the results, each whole or not at all.
void write_sweep_files(const SweepFolder& folder, const SweepPlan& plan, const std::vector<SweepRow>& rows);

}  // namespace slipstream
