#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/tune_budget.h"
#include "app/tune_trial.h"

namespace slipstream {

/// Does a trial, in at most `timeout_s`.
using MeasureTrial = std::function<Measured(TrialKind, const TuneSettings&, double timeout_s)>;

/// The trials of a `tune`, done within its budget and written down in their order.
class TuneTrials {
 public:
  /// `on_trial` is called after each trial.
  TuneTrials(double budget_s, MeasureTrial measure, std::function<void(const Trial&)> on_trial)
      : budget_(budget_s), measure_(std::move(measure)), on_trial_(std::move(on_trial)) {}

  /// A trial that leaves `reserve_s` of the budget.
  Measured run(TrialKind kind, const TuneSettings& settings, double reserve_s);
  /// As `run`; throws Error with the name and the sentence of a trial that failed.
  Measured run_required(TrialKind kind, const TuneSettings& settings, double reserve_s);
  /// A candidate, which wins over `best` if it is faster by more than the noise: that of equal trials, or of
  /// the steps within one of the two where they vary more.
  Trial run_candidate(const TuneSettings& settings, const Measured& best, double noise, double reserve_s);
  /// Writes down a candidate that isn't tried, and why.
  void skip(const TuneSettings& settings, const std::string& why);

  bool was_tried(const TuneSettings& settings) const;  ///< with input
  const TuneBudget& budget() const { return budget_; }
  const std::vector<Trial>& list() const { return list_; }

 private:
  Trial measured(TrialKind kind, const TuneSettings& settings, double reserve_s);
  void add(const Trial& trial);

  TuneBudget budget_;
  MeasureTrial measure_;
  std::function<void(const Trial&)> on_trial_;
  std::vector<Trial> list_;
};

}  // namespace slipstream
