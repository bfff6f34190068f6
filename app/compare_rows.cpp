#include "app/compare_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "app/side_by_side.h"
#include "app/units.h"
#include "pipeline/bottleneck.h"

namespace slipstream {
namespace {

void add_figures(CompareRow& row, const std::vector<RunFigures>& runs) {
  std::vector<double> epoch_s, rates, hidden;
  double wall_s = 0, wait_s = 0, watched_s = 0, busy_s = 0, dip_s = 0;
  for (const RunFigures& run : runs) {
    for (const RunFigures::Epoch& epoch : run.epochs) {
      epoch_s.push_back(epoch.wall_s);
      rates.push_back(epoch.images_per_s);
      if (epoch.hidden_share) hidden.push_back(*epoch.hidden_share);
      wall_s += epoch.wall_s;
      wait_s += epoch.data_wait_s;
    }
    watched_s += run.watched_s;
    busy_s += run.busy_s;
    dip_s += run.dip_s;
  }
  row.epoch_s = spread_of(epoch_s);
  row.images_per_s = spread_of(rates);
  row.data_wait_share = wait_s / wall_s;
  if (!hidden.empty()) row.hidden_share = spread_of(hidden).median;
  row.busy_mean = watched_s > 0 ? busy_s / watched_s : 0;
  row.busy_dips = watched_s > 0 ? dip_s / watched_s : 0;
}

std::string loss_text(const RunFigures::Loss& loss) {
  return loss.value ? fmt::format("{}", static_cast<float>(*loss.value)) : "no number";
}

/// Empty if the losses are the same; else where they first are not.
std::string difference(const std::vector<RunFigures::Loss>& found,
                       const std::vector<RunFigures::Loss>& expected) {
  const auto [here, there] = std::ranges::mismatch(found, expected);
  if (here == found.end() && there == expected.end()) return {};
  if (here == found.end() || there == expected.end()) {
    return fmt::format("{} steps instead of {}", found.size(), expected.size());
  }
  return fmt::format("{} instead of {} in step {} of epoch {}", loss_text(*here), loss_text(*there),
                     there->step, there->epoch);
}

/// Empty if the losses of all runs are those of the reference and prove something.
std::string mismatch(const CompareRow& row, const std::vector<RunFigures>& runs,
                     const std::vector<RunFigures::Loss>& expected, const CompareRow& reference) {
  for (size_t round = 0; round < runs.size(); ++round) {
    const std::string difference_there = difference(runs[round].losses, expected);
    if (difference_there.empty()) continue;
    return fmt::format("{}, round {}, has other losses than {}, round 1: {}.", row.name, round + 1,
                       reference.name, difference_there);
  }
  const auto lost = std::ranges::find_if(expected, [](const RunFigures::Loss& loss) { return !loss.value; });
  if (lost == expected.end()) return {};
  return fmt::format(
      "{}: the loss is no finite number from step {} of epoch {} on, which proves nothing; try a smaller "
      "--lr.",
      row.name, lost->step, lost->epoch);
}

std::string range_text(const Spread& spread) {
  return fmt::format("{} to {}", rounded(spread.min), seconds_text(spread.max));
}
std::string times_text(double factor) { return fmt::format("{:.{}f}x", factor, factor < 9.95 ? 2 : 1); }

struct Column {
  const char* title;
  std::string (*cell)(const CompareRow&);
};

constexpr Column kColumns[] = {
    {"epoch (median)", [](const CompareRow& row) { return seconds_text(row.epoch_s.median); }},
    {"range", [](const CompareRow& row) { return range_text(row.epoch_s); }},
    {"images/s", [](const CompareRow& row) { return rounded(row.images_per_s.median); }},
    {"speed-up", [](const CompareRow& row) { return times_text(row.speedup); }},
    {"data wait", [](const CompareRow& row) { return share_text(row.data_wait_share); }},
    {"hidden",
     [](const CompareRow& row) {
       return row.hidden_share ? share_text(*row.hidden_share) : std::string("-");
     }},
    {"busy", [](const CompareRow& row) { return share_text(row.busy_mean); }},
    {"dips", [](const CompareRow& row) { return share_text(row.busy_dips); }},
    {"of ceiling", [](const CompareRow& row) { return share_text(row.ceiling_share); }},
    {"losses", [](const CompareRow& row) { return std::string(row.losses_agree ? "agree" : "differ"); }},
};

/// Whom the sentence is about: the fastest overlapped way, or without one the fastest.
const CompareRow* best_row(const std::vector<CompareRow>& rows) {
  const CompareRow* best = nullptr;
  for (const CompareRow& row : rows) {
    if (row.synthetic) continue;
    const bool overlapped = row.mode == "overlapped";
    if (best != nullptr && !overlapped && best->mode == "overlapped") continue;
    const bool is_first_of_kind = best == nullptr || (overlapped && best->mode != "overlapped");
    if (is_first_of_kind || row.images_per_s.median > best->images_per_s.median) best = &row;
  }
  return best;
}

/// "overlapped is 2.4x serial"; the decoders, too, where they are not the same.
std::string speedup_text(const CompareRow& row, const CompareRow& base) {
  const bool same_decoder = row.decode == base.decode;
  std::string text = fmt::format("{} is {} {}", same_decoder ? row.mode : row.name, times_text(row.speedup),
                                 same_decoder ? base.mode : base.name);
  const bool may_be_chance = row.epoch_s.min <= base.epoch_s.max && base.epoch_s.min <= row.epoch_s.max;
  if (may_be_chance) text += ", which is within what epochs vary by";
  return text;
}

}  // namespace

CompareResult compare_rows(const ComparePlan& plan, const std::vector<std::vector<RunFigures>>& figures) {
  CompareResult result;
  std::map<std::string, size_t> references;  // by decoder
  for (size_t i = 0; i < plan.ways.size(); ++i) {
    const ComparedWay& way = plan.ways[i];
    CompareRow& row = result.rows.emplace_back();
    row.name = way.name;
    row.mode = way.mode;
    row.decode = way.decode;
    row.synthetic = way.synthetic;
    for (size_t round = 1; round <= figures[i].size(); ++round) {
      row.runs.push_back(fmt::format("runs/round{}/{}", round, way.folder));
    }
    add_figures(row, figures[i]);
    const size_t reference = references.try_emplace(way.decode, i).first->second;
    const std::string sentence =
        mismatch(row, figures[i], figures[reference].front().losses, result.rows[reference]);
    row.losses_agree = sentence.empty();
    if (!row.losses_agree) result.mismatches.push_back(sentence);
  }
  const double base_s = result.rows.front().epoch_s.median;
  const auto ceiling = std::ranges::find(result.rows, true, &CompareRow::synthetic);
  for (CompareRow& row : result.rows) {
    row.speedup = base_s / row.epoch_s.median;
    row.ceiling_share = row.images_per_s.median / ceiling->images_per_s.median;
  }
  return result;
}

std::string compare_rows_table(const std::vector<CompareRow>& rows) {
  std::vector<std::string> names = {""};
  for (const CompareRow& row : rows) names.push_back(row.name);
  std::vector<std::vector<std::string>> columns;
  for (const Column& column : kColumns) {
    std::vector<std::string>& cells = columns.emplace_back(1, column.title);
    for (const CompareRow& row : rows) cells.push_back(column.cell(row));
  }
  return side_by_side(names, columns);
}

std::string compare_sentence(const std::vector<CompareRow>& rows) {
  const CompareRow* best = best_row(rows);
  if (best == nullptr) return {};
  const CompareRow& base = rows.front();
  std::string text = best == &base ? fmt::format("{} reaches {} of the rate without input", best->name,
                                                 share_text(best->ceiling_share))
                                   : speedup_text(*best, base);
  if (best->hidden_share) text += fmt::format("; input is hidden to {}", share_text(*best->hidden_share));
  const bool was_bound = is_input_bound(base.data_wait_share);
  if (is_input_bound(best->data_wait_share)) {
    return text + fmt::format("; {}input-bound: {} of the time compute waits for data",
                              was_bound && best != &base ? "still " : "", share_text(best->data_wait_share));
  }
  return text + (was_bound ? "; now compute-bound" : "; compute-bound");
}

Json compare_row_record(const CompareRow& row) {
  const auto spread = [](const Spread& values) {
    return Json{{"median", values.median}, {"min", values.min}, {"max", values.max}};
  };
  return {{"name", row.name},
          {"mode", row.mode},
          {"decode", row.decode},
          {"synthetic", row.synthetic},
          {"runs", row.runs},
          {"epoch_s", spread(row.epoch_s)},
          {"images_per_s", spread(row.images_per_s)},
          {"speedup", row.speedup},
          {"data_wait_share", row.data_wait_share},
          {"hidden_share", row.hidden_share ? Json(*row.hidden_share) : Json()},
          {"gpu_utilisation", {{"mean", row.busy_mean}, {"dips", row.busy_dips}}},
          {"ceiling_share", row.ceiling_share},
          {"losses_agree", row.losses_agree}};
}

}  // namespace slipstream
