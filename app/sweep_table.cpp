#include "app/sweep_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "app/nearest.h"
#include "app/option_table.h"
#include "app/side_by_side.h"
#include "app/sweep_figures.h"
#include "app/wrapped.h"
#include "data/error.h"

namespace slipstream {
namespace {

std::string status_cell(const SweepRow& row) {
  return row.result == nullptr ? "to do" : status_name(row.result->status);
}

Json sort_value(const SweepRow& row, const std::string& key) {
  if (const Figure* figure = find_figure(key)) return figure_value(*figure, row.result);
  if (key == "run") return row.run->name;
  if (key == "status") return status_cell(row);
  return row.run->config.at(key);
}

/// A table's lines before the figures: names, and a column for each option that differs.
struct Columns {
  std::vector<std::string> names;
  std::vector<std::vector<std::string>> cells;
};

Columns plan_columns(const SweepPlan& plan, const std::vector<const PlannedRun*>& runs) {
  Columns columns{.names = {"run"}, .cells = {}};
  for (const PlannedRun* run : runs) columns.names.push_back(run->name);
  for (const std::string& key : plan.differing) {
    std::vector<std::string>& column = columns.cells.emplace_back(1, key);
    for (const PlannedRun* run : runs) column.push_back(option_text(run->config.at(key)));
  }
  return columns;
}

}  // namespace

std::vector<SweepRow> sweep_rows(const SweepPlan& plan, const SweepResults& results) {
  std::vector<SweepRow> rows;
  for (const PlannedRun& run : plan.runs) rows.push_back({&run, results.find(run.config)});
  return rows;
}

void check_sort_key(const SweepPlan& plan, const std::string& key) {
  std::vector<std::string> keys = {"run", "status"};
  for (const Figure& figure : kFigures) keys.emplace_back(figure.key);
  keys.insert(keys.end(), plan.differing.begin(), plan.differing.end());
  if (std::find(keys.begin(), keys.end(), key) != keys.end()) return;
  throw UsageError(fmt::format("--sort must be one of {}, not '{}'; did you mean '{}'?",
                               fmt::join(keys, ", "), key, nearest(key, keys)));
}

void sort_rows(std::vector<SweepRow>& rows, const std::string& key) {
  const Figure* figure = find_figure(key);
  const bool descends = figure != nullptr && figure->more_is_better;
  std::stable_sort(rows.begin(), rows.end(), [&](const SweepRow& a, const SweepRow& b) {
    const Json first = sort_value(a, key), second = sort_value(b, key);
    if (first.is_null() || second.is_null()) return !first.is_null();
    return descends ? second < first : first < second;
  });
}

const SweepRow* best_row(std::vector<SweepRow>& rows, const std::string& figure) {
  sort_rows(rows, figure);
  const auto best = std::find_if(rows.begin(), rows.end(), [&](const SweepRow& row) {
    return row.result != nullptr && row.result->status == RunStatus::kDone &&
           !sort_value(row, figure).is_null();
  });
  return best == rows.end() ? nullptr : &*best;
}

std::string plan_table(const SweepPlan& plan) {
  std::vector<const PlannedRun*> runs;
  for (const PlannedRun& run : plan.runs) runs.push_back(&run);
  const Columns columns = plan_columns(plan, runs);
  return side_by_side(columns.names, columns.cells);
}

std::string sweep_table(const SweepPlan& plan, const std::vector<SweepRow>& rows) {
  std::vector<const PlannedRun*> runs;
  for (const SweepRow& row : rows) runs.push_back(row.run);
  Columns columns = plan_columns(plan, runs);
  for (const Figure& figure : kFigures) {
    std::vector<std::string>& column = columns.cells.emplace_back(1, std::string(figure.title));
    for (const SweepRow& row : rows) column.push_back(figure_cell(figure, row.result));
  }
  std::vector<std::string>& statuses = columns.cells.emplace_back(1, "status");
  for (const SweepRow& row : rows) statuses.push_back(status_cell(row));

  std::string text = side_by_side(columns.names, columns.cells);
  for (const SweepRow& row : rows) {
    if (row.result == nullptr || row.result->error.empty()) continue;
    text += fmt::format("\n{}:\n{}", row.run->name, wrapped(row.result->error, 2, 100));
  }
  return text;
}

}  // namespace slipstream
