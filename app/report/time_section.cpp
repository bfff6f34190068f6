#include "app/report/cells.h"
#include "app/report/epoch_figures.h"
#include "app/report/sections.h"
#include "app/report/time_bars.h"

namespace slipstream {
namespace {

/// The sentence with which each run's last epoch closed.
DataTable limits_of(const std::vector<DrawnRun>& runs) {
  DataTable table{.caption = "What limits each run", .columns = {{"run"}, {"its last epoch"}}, .rows = {}};
  for (const DrawnRun& drawn : runs) {
    const Json& epochs = drawn.run->epochs;
    const std::string sentence =
        epochs.empty() ? "No epoch has ended yet." : epoch_text_of(epochs.back(), "bottleneck");
    if (!sentence.empty()) table.rows.push_back({text_cell(drawn.run->name), text_cell(sentence)});
  }
  return table;
}

}  // namespace

Section time_section(const std::vector<DrawnRun>& runs) {
  Section section{.title = "Where the time went", .blocks = {}};
  std::vector<TimedRun> timed, news;
  for (const DrawnRun& drawn : runs) {
    timed.push_back({.run = drawn.run, .range = {}});
    if (!drawn.in_compare) news.push_back(timed.back());
  }
  Picture times = time_picture(news, "Epoch time by part");
  Picture stages = stages_picture(timed, "Work of the input by stage");
  DataTable limits = limits_of(runs);
  constexpr size_t kMostSentences = 6;  // of runs that were not made to be compared, pairs are many
  const std::vector<std::string> sentences = overlap_sentences(timed);
  if (sentences.size() <= kMostSentences) {
    for (const std::string& sentence : sentences) section.blocks.emplace_back(Paragraph{sentence});
  }
  if (!times.data.rows.empty()) section.blocks.emplace_back(std::move(times));
  if (!stages.data.rows.empty()) section.blocks.emplace_back(std::move(stages));
  if (!limits.rows.empty()) section.blocks.emplace_back(std::move(limits));
  return section;
}

}  // namespace slipstream
