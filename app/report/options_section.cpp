#include <fmt/format.h>

#include "app/option_table.h"
#include "app/report/cells.h"
#include "app/report/sections.h"

namespace slipstream {

Section options_section(const std::vector<DrawnRun>& runs) {
  Section section{.title = "How the configurations differ", .blocks = {}};
  if (runs.size() < 2) return section;
  std::vector<const Json*> configs;
  for (const DrawnRun& drawn : runs) configs.push_back(&drawn.run->config);
  const std::vector<std::string> keys = differing_options(configs);
  if (keys.empty()) {
    section.blocks.emplace_back(Paragraph{"All options of these runs are the same."});
    return section;
  }
  DataTable table{
      .caption = "Options whose values are not the same in all runs", .columns = {{"run"}}, .rows = {}};
  for (const std::string& key : keys) {
    table.columns.push_back(
        {key, runs.front().run->config.contains(key) && runs.front().run->config.at(key).is_number()});
  }
  for (const DrawnRun& drawn : runs) {
    std::vector<Cell>& cells = table.rows.emplace_back(1, text_cell(drawn.run->name));
    for (const std::string& key : keys) cells.push_back(option_cell(drawn.run->config, key));
  }
  section.blocks.emplace_back(std::move(table));
  return section;
}

}  // namespace slipstream
