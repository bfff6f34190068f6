#include "app/sweep_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>

#include "app/json_file.h"
#include "app/records.h"
#include "app/sweep_figures.h"
#include "data/file_io.h"

namespace slipstream {

std::string sweep_csv(const SweepPlan& plan, const std::vector<SweepRow>& rows) {
  std::vector<std::string> cells = {"run"};
  cells.insert(cells.end(), plan.differing.begin(), plan.differing.end());
  for (const Figure& figure : kFigures) cells.emplace_back(figure.key);
  cells.insert(cells.end(), {"status", "error"});
  std::string text = fmt::format("{}\n", fmt::join(cells, ","));
  for (const SweepRow& row : rows) {
    cells = {csv_cell(row.run->name)};
    for (const std::string& key : plan.differing) cells.push_back(csv_cell(row.run->config.at(key)));
    for (const Figure& figure : kFigures) cells.push_back(csv_cell(figure_value(figure, row.result)));
    const SweepResult* result = row.result;
    cells.push_back(result == nullptr ? "" : csv_cell(status_name(result->status)));
    cells.push_back(result == nullptr || result->error.empty() ? "" : csv_cell(result->error));
    text += fmt::format("{}\n", fmt::join(cells, ","));
  }
  return text;
}

void write_sweep_files(const SweepFolder& folder, const SweepPlan& plan, const std::vector<SweepRow>& rows) {
  Json records = Json::array();
  for (const SweepRow& row : rows) {
    if (row.result == nullptr) continue;
    Json record = result_record(*row.result);
    record["name"] = row.run->name;  // the plan's, should it have changed
    records.push_back(std::move(record));
  }
  write_json(folder.file("results.json"), records);
  write_file_atomically(folder.file("results.csv"), sweep_csv(plan, rows));
}

}  // namespace slipstream
