#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/compare_figures.h"
#include "app/compare_plan.h"

namespace slipstream {

/// A line of compare's table: one way to train, over all rounds.
struct CompareRow {
  std::string name, mode, decode;
  bool synthetic = false;
  std::vector<std::string> runs;  ///< their folders, within the compare's
  Spread epoch_s, images_per_s;
  double speedup = 1;          ///< of the median epoch, over the first row
  double data_wait_share = 0;  ///< of the epochs' time
  std::optional<double> hidden_share;
  double busy_mean = 0;      ///< share of time in which a step was under way on the compute stream
  double busy_dips = 0;      ///< share of time in bins where it was for less than half
  double ceiling_share = 1;  ///< images/s over those of the row without input
  bool losses_agree = true;  ///< with the first row of the same decoder, step by step, in every round
};

/// The runs of each of the plan's ways, whose figures stand in the runs' order: way by way, round by round.
struct CompareResult {
  std::vector<CompareRow> rows;
  std::vector<std::string> mismatches;  ///< a sentence for each row whose losses differ
  bool losses_agree() const { return mismatches.empty(); }
};

/// `figures[w]`: of way w's runs, a round each.
CompareResult compare_rows(const ComparePlan& plan, const std::vector<std::vector<RunFigures>>& figures);

/// The table that people read, without the sentence.
std::string compare_rows_table(const std::vector<CompareRow>& rows);

/// What a person would quote: "overlapped is 2.4x serial; input is hidden to 99.1%; now compute-bound".
std::string compare_sentence(const std::vector<CompareRow>& rows);

/// A row as an object of compare.json.
Json compare_row_record(const CompareRow& row);

}  // namespace slipstream
