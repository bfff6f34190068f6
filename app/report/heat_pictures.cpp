#include <fmt/format.h>

#include "app/option_table.h"
#include "app/report/cells.h"
#include "app/report/heat_map.h"
#include "app/report/scale.h"
#include "app/report/sweep_grid.h"
#include "app/report/sweep_pictures.h"

namespace slipstream {
namespace {

std::string best_words(const Figure& figure, const HeatMap& map) {
  std::optional<double> best;
  std::string words;
  for (size_t y = 0; y < map.ys.size(); ++y) {
    for (size_t x = 0; x < map.xs.size(); ++x) {
      const auto& value = map.rows[y][x].value;
      if (!value || (best && (figure.more_is_better ? *value <= *best : *value >= *best))) continue;
      best = value;
      words = fmt::format(" Best is {} at {} {} and {} {}.", map.rows[y][x].text, map.x_title, map.xs[x],
                          map.y_title, map.ys[y]);
    }
  }
  return words;
}

HeatMap map_of(const ReportSweep& sweep, const Figure& figure, const GridOption& across,
               const GridOption& down) {
  HeatMap map{.x_title = across.key, .y_title = down.key, .xs = {}, .ys = {}, .rows = {}};
  for (const Json& value : across.values) map.xs.push_back(option_text(value));
  for (const Json& y : down.values) {
    map.ys.push_back(option_text(y));
    std::vector<HeatCell>& row = map.rows.emplace_back();
    for (const Json& x : across.values) {
      const auto mean = mean_figure(sweep, figure, {across.key, x}, {down.key, y});
      row.push_back({mean, mean ? figure.text(*mean) : "-"});
    }
  }
  const ValueRange range = range_of(map);
  map.is_log = wants_log(range.low, range.high);
  return map;
}

DataTable table_of(const HeatMap& map, const std::string& caption) {
  DataTable table{.caption = caption,
                  .columns = {{fmt::format("{} (down), {} (across)", map.y_title, map.x_title)}},
                  .rows = {}};
  for (const std::string& x : map.xs) table.columns.push_back({x, true});
  for (size_t y = 0; y < map.ys.size(); ++y) {
    std::vector<Cell>& cells = table.rows.emplace_back(1, text_cell(map.ys[y]));
    for (const HeatCell& cell : map.rows[y]) cells.push_back({cell.text, cell.value});
  }
  return table;
}

}  // namespace

std::vector<Block> heat_pictures(const ReportSweep& sweep) {
  const std::vector<GridOption> options = grid_options(sweep);
  std::vector<Block> blocks;
  // The option with fewer values goes across: a phone is narrow.
  const bool swap = options[0].values.size() < options[1].values.size();
  const GridOption& down = options[swap ? 1 : 0];
  const GridOption& across = options[swap ? 0 : 1];
  for (const Figure& figure : kFigures) {
    const HeatMap map = map_of(sweep, figure, across, down);
    const std::string title = fmt::format("{}: {}", sweep.name, figure.title);
    const std::string best = best_words(figure, map);
    if (best.empty()) continue;  // no run has it
    blocks.emplace_back(Picture{
        .title = title,
        .description = fmt::format("A grid of {} by {} and {}.", figure.title, down.key, across.key),
        .draw = [map](double width) { return heat_map(map, width); },
        .half = true,
        .legend = {},
        .note = fmt::format("The stronger, the more{}; {} is better.{}", map.is_log ? ", by logarithms" : "",
                            figure.more_is_better ? "more" : "less", best),
        .data = table_of(map, title)});
  }
  return blocks;
}

}  // namespace slipstream
