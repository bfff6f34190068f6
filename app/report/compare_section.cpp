#include <fmt/format.h>

#include "app/report/cells.h"
#include "app/report/scale.h"
#include "app/report/sections.h"
#include "app/report/time_bars.h"
#include "app/units.h"

namespace slipstream {
namespace {

Cell agreement(const std::optional<bool>& agree) {
  if (!agree) return text_cell("-");
  return text_cell(*agree ? "yes" : "NO");
}

DataTable table_of(const ReportCompare& compare) {
  DataTable table{.caption = fmt::format("{}: medians over {} round{}, and their ranges", compare.name,
                                         compare.file.rounds, compare.file.rounds == 1 ? "" : "s"),
                  .columns = {{"run"},
                              {"epoch time", true},
                              {"images/s", true},
                              {"speed-up", true},
                              {"data wait", true},
                              {"input hidden", true},
                              {"busy", true},
                              {"in dips", true},
                              {"of the ceiling", true},
                              {"losses agree"}},
                  .rows = {}};
  for (const ReportCompareRow& row : compare.file.rows) {
    table.rows.push_back({text_cell(row.name), spread_cell(row.epoch_s, duration_text),
                          spread_cell(row.images_per_s, rounded), times_cell(row.speedup),
                          share_cell(row.data_wait_share), share_cell(row.hidden_share),
                          share_cell(row.gpu_busy), share_cell(row.gpu_dips), share_cell(row.ceiling_share),
                          agreement(row.losses_agree)});
  }
  return table;
}

Picture bars_of(const ReportCompare& compare) {
  std::vector<TimedRun> runs;
  for (size_t at = 0; at < compare.runs.size(); ++at) {
    const auto& spread = compare.file.rows[at].epoch_s;
    TimedRun& run = runs.emplace_back(TimedRun{.run = &compare.runs[at], .range = {}});
    if (spread && spread->low < spread->high) run.range = {spread->low, spread->high};
  }
  Picture picture = time_picture(runs, fmt::format("{}: epoch time (s) by part", compare.name));
  picture.note =
      "Of each row the round whose epoch time is the median; the thin line across a bar's end reaches from "
      "the shortest to the longest round. " +
      picture.note;
  return picture;
}

}  // namespace

Section compare_section(const ReportCompare& compare) {
  Section section{.title = fmt::format("Compare: {}", compare.name), .blocks = {}};
  section.blocks.emplace_back(Quote{compare.file.sentence});
  section.blocks.emplace_back(Paragraph{fmt::format(
      "{} On {}, by: {}",
      compare.file.losses_agree ? "The losses of all rows with the same batches agree to the last digit."
                                : "The losses do NOT agree: see the last column.",
      compare.file.device, compare.file.command)});
  section.blocks.emplace_back(table_of(compare));
  section.blocks.emplace_back(Paragraph{
      "Busy: the share of time in which compute had a step under way; in dips: the share of time in "
      "stretches in which it had one for less than half."});
  section.blocks.emplace_back(bars_of(compare));
  return section;
}

}  // namespace slipstream
