#pragma once

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "app/tune_trials.h"

namespace slipstream {

/// The least that makes a result: warm-up, ceiling, the baseline twice, one candidate, and in the end
/// baseline and winner once more.
constexpr int kLeastTrials = 7;

struct TuneLimits {
  double budget_s = 0;
  int64_t most_workers = 1, most_prefetch = 1;
  std::vector<int64_t> batch_sizes;  ///< to try, ascending; empty: the batch size stays
};

/// Why the search for input settings ended.
enum class TuneEnd {
  kNothingPays,  ///< no neighbour of the best is faster
  kAtCeiling,    ///< the rate without input is reached
  kOutOfBudget,
};

/// What the confirmation said of the search's best.
enum class Confirmation {
  kNotNeeded,    ///< it is the baseline
  kUnconfirmed,  ///< it had no time
  kFailed,       ///< a trial failed
  kNotFaster,
  kFaster,
};

struct TuneResult {
  TuneSettings baseline, found, chosen;  ///< found: the search's best; chosen: that, or else the baseline
  Measured at_baseline, at_chosen;       ///< medians of repeated trials, the latest where there are some
  Confirmation confirmation = Confirmation::kNotNeeded;
  double difference = 0;          ///< share of the rate by which equal trials differ
  double noise = 0;               ///< that, or what is chance: a candidate must be faster by more
  std::optional<double> ceiling;  ///< images/s without input, at the chosen batch size
  TuneEnd end = TuneEnd::kNothingPays;
  bool most_workers = false, most_prefetch = false;  ///< a limit, not the rate, kept the search from more
  double spent_s = 0;
  std::vector<Trial> trials;  ///< in their order
};

/// Coordinate descent over workers, then prefetch, then batch size: a setting is doubled while that pays,
/// else halved while that pays. A candidate wins only by more than the noise, so what isn't faster stays as
/// it was; baseline and winner are measured in turn in the end. Nothing is started that has no room left in
/// the budget. It knows no processes and no clock: what a trial is lies in `measure`.
class TuneSearch {
 public:
  TuneSearch(TuneLimits limits, MeasureTrial measure, std::function<void(const Trial&)> on_trial);

  /// Once. Throws Error if the budget is too small for any result, saying what is needed, or if the training
  /// fails with the settings it starts from.
  TuneResult run(const TuneSettings& start);

 private:
  using Setting = int64_t TuneSettings::*;

  void warm_up();
  void measure_ceiling();
  void measure_baseline();
  void tune_input();
  void try_batch_sizes();
  void confirm();

  bool descend(Setting setting, int64_t most);
  bool climb(Setting setting, int64_t most, bool up);
  bool try_candidate(const TuneSettings& settings);
  bool is_at_ceiling() const;
  double winner_s() const;
  double confirmation_s() const;
  bool has_room_for_candidate() const;

  TuneLimits limits_;
  TuneTrials trials_;
  TuneSettings best_;
  Measured at_best_;
  std::map<int64_t, Measured> ceilings_;  // by batch size
  TuneResult result_;
};

}  // namespace slipstream
