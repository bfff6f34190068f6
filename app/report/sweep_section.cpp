#include <fmt/format.h>

#include <algorithm>

#include "app/report/cells.h"
#include "app/report/sections.h"
#include "app/report/sweep_grid.h"
#include "app/report/sweep_pictures.h"
#include "app/sweep_figures.h"

namespace slipstream {
namespace {

DataTable table_of(const ReportSweep& sweep) {
  DataTable table{.caption = fmt::format("{}: all runs", sweep.name), .columns = {{"run"}}, .rows = {}};
  for (const std::string& key : sweep.differing) {
    const Json& first = sweep.results.front().config;
    table.columns.push_back({key, first.contains(key) && first.at(key).is_number()});
  }
  for (const Figure& figure : kFigures) table.columns.push_back({std::string(figure.title), true});
  table.columns.push_back({"status"});
  for (const SweepResult& result : sweep.results) {
    std::vector<Cell>& cells = table.rows.emplace_back(1, text_cell(result.name));
    for (const std::string& key : sweep.differing) cells.push_back(option_cell(result.config, key));
    for (const Figure& figure : kFigures) {
      const Json value = figure_value(figure, &result);
      cells.push_back({figure_cell(figure, &result),
                       value.is_null() ? std::nullopt : std::optional(value.get<double>())});
    }
    cells.push_back(text_cell(status_name(result.status)));
  }
  return table;
}

std::vector<Block> pictures_of(const ReportSweep& sweep) {
  const size_t options = grid_options(sweep).size();
  if (options < 2) return bar_pictures(sweep);
  return options == 2 ? heat_pictures(sweep) : parallel_pictures(sweep);
}

/// Each in a colour of its own where these suffice; else the best in one and the others pale, below it.
std::vector<DrawnRun> drawn_runs(const ReportSweep& sweep) {
  constexpr size_t kColours = 8;
  const int best = best_result(sweep);
  const std::string best_name = best < 0 ? "" : sweep.results[static_cast<size_t>(best)].name;
  std::vector<DrawnRun> drawn;
  for (const ReportRun& run : sweep.runs) {
    const std::string pale = run.name == best_name ? "s2 strong" : "muted";
    drawn.push_back({&run, sweep.runs.size() <= kColours ? series_style(drawn.size()) : pale});
  }
  std::stable_partition(drawn.begin(), drawn.end(), [](const DrawnRun& run) { return run.style == "muted"; });
  return drawn;
}

}  // namespace

Section sweep_section(const ReportSweep& sweep) {
  Section section{.title = fmt::format("Sweep: {}", sweep.name), .blocks = {}};
  section.blocks.emplace_back(table_of(sweep));
  for (const SweepResult& result : sweep.results) {
    if (result.error.empty()) continue;
    section.blocks.emplace_back(Paragraph{fmt::format("{}: {}", result.name, result.error)});
  }
  for (Block& block : pictures_of(sweep)) section.blocks.push_back(std::move(block));
  for (Block& block : curve_pictures(drawn_runs(sweep), fmt::format(" of {}'s runs", sweep.name))) {
    section.blocks.push_back(std::move(block));
  }
  return section;
}

}  // namespace slipstream
