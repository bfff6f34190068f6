#pragma once

#include <string>
#include <vector>

#include "app/sweep_plan.h"
#include "app/sweep_results.h"

namespace slipstream {

/// A run beside its result; null if it has none yet.
struct SweepRow {
  const PlannedRun* run = nullptr;
  const SweepResult* result = nullptr;
};

/// In the plan's order. The rows point into both.
std::vector<SweepRow> sweep_rows(const SweepPlan& plan, const SweepResults& results);

/// Throws UsageError unless `sort_rows` can sort by `key`: run, status, a figure of sweep_figures.h or an
/// option that differs.
void check_sort_key(const SweepPlan& plan, const std::string& key);
/// Best first for figures, ascending for all else; rows that lack the value come last.
void sort_rows(std::vector<SweepRow>& rows, const std::string& key);
/// The first done run of the rows sorted by `figure`; null if none has a value.
const SweepRow* best_row(std::vector<SweepRow>& rows, const std::string& figure);

/// What --dry-run shows: the runs and the options in which they differ.
std::string plan_table(const SweepPlan& plan);
/// The runs with what differs, their last epoch's figures and their status; then why some aren't done.
std::string sweep_table(const SweepPlan& plan, const std::vector<SweepRow>& rows);

}  // namespace slipstream
