#pragma once

#include <string>
#include <vector>

#include "app/tune_search.h"

namespace slipstream {

/// What the sentences depend on besides the result.
struct TuneContext {
  bool names_batch = false;   ///< batch sizes were asked for
  bool shares_cores = false;  ///< input and step both work on the CPU
  double lr = 0;
};

/// "workers 2, prefetch 4"; of settings whose batch is in question: "batch 64, workers 2, prefetch 4".
std::string settings_text(const TuneSettings& settings, bool names_batch);

/// The settings, or "warm-up", "without input".
std::string trial_name(TrialKind kind, const TuneSettings& settings, bool names_batch);

/// Whose failure it is, its batch too, and what happened.
std::string failure_text(TrialKind kind, const TuneSettings& settings, const std::string& failure);

/// A line: what was tried, its rate, and what that means.
std::string trial_line(const Trial& trial, bool names_batch);

/// Why the search ended, what came of it and what limits now: a sentence each.
std::vector<std::string> tune_sentences(const TuneResult& result, const TuneContext& context);

}  // namespace slipstream
