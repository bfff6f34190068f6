#include "app/tune_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/tune_repeated.h"
#include "app/tune_text.h"
#include "data/error.h"

namespace slipstream {
namespace {

constexpr double kLeastNoise = 0.01;    // that equal trials agree better than this is chance
constexpr double kUneasyNoise = 0.03;   // beyond it two measurements of the baseline are too few
constexpr double kCeilingShare = 0.98;  // of the rate without input: the input is hidden
constexpr int kMostConfirmations = 2;

/// Not for want of time.
bool has_failed(const Measured& measured) { return !measured.failure.empty() && !measured.timed_out; }

}  // namespace

TuneSearch::TuneSearch(TuneLimits limits, MeasureTrial measure, std::function<void(const Trial&)> on_trial)
    : limits_(std::move(limits)), trials_(limits_.budget_s, std::move(measure), std::move(on_trial)) {}

TuneResult TuneSearch::run(const TuneSettings& start) {
  result_.baseline = result_.chosen = best_ = start;
  warm_up();
  measure_ceiling();
  // Only now it is known what a start-up takes that isn't the first.
  trials_.budget().require_room_for(kLeastTrials - 2);
  measure_baseline();
  tune_input();
  try_batch_sizes();
  confirm();
  if (const auto ceiling = ceilings_.find(result_.chosen.batch_size); ceiling != ceilings_.end()) {
    result_.ceiling = ceiling->second.images_per_s;
  }
  result_.spent_s = trials_.budget().spent_s();
  result_.trials = trials_.list();
  return result_;
}

void TuneSearch::warm_up() {
  const Measured measured = trials_.run(TrialKind::kWarmUp, best_, /*reserve_s=*/0);
  if (measured.timed_out && measured.again_s <= 0) trials_.budget().refuse();
  if (has_failed(measured)) throw Error(failure_text(TrialKind::kWarmUp, best_, measured.failure));
  trials_.budget().require_room_for(kLeastTrials - 1);
}

void TuneSearch::measure_ceiling() {
  const Measured measured = trials_.run(TrialKind::kCeiling, best_, confirmation_s());
  if (measured.failure.empty()) ceilings_[best_.batch_size] = measured;
}

void TuneSearch::measure_baseline() {
  Repeated baseline;
  const auto once_more = [&] {
    baseline.add(trials_.run_required(TrialKind::kBaseline, best_, /*reserve_s=*/0));
    result_.difference = baseline.range();
    result_.noise = std::max(kLeastNoise, result_.difference);
  };
  once_more();
  once_more();
  const double candidate_s = trials_.budget().expected_s();
  if (result_.noise > kUneasyNoise && trials_.budget().has_room_for(2 * candidate_s + confirmation_s())) {
    once_more();
  }
  result_.at_baseline = result_.at_chosen = at_best_ = baseline.median();
}

void TuneSearch::tune_input() {
  const int64_t most_workers = std::max(limits_.most_workers, best_.workers);
  const int64_t most_prefetch = std::max(limits_.most_prefetch, best_.prefetch);
  do {
    descend(&TuneSettings::workers, most_workers);
  } while (descend(&TuneSettings::prefetch, most_prefetch));  // with another, other workers may pay
  if (is_at_ceiling()) result_.end = TuneEnd::kAtCeiling;
  result_.most_workers = best_.workers == most_workers;
  result_.most_prefetch = best_.prefetch == most_prefetch;
}

bool TuneSearch::descend(Setting setting, int64_t most) {
  return climb(setting, most, /*up=*/true) || climb(setting, most, /*up=*/false);
}

/// Whether a step paid.
bool TuneSearch::climb(Setting setting, int64_t most, bool up) {
  for (bool moved = false;; moved = true) {
    TuneSettings next = best_;
    next.*setting = std::clamp<int64_t>(up ? best_.*setting * 2 : best_.*setting / 2, 1, most);
    if (is_at_ceiling() || trials_.was_tried(next) || !try_candidate(next)) return moved;
  }
}

/// Whether it is the best now.
bool TuneSearch::try_candidate(const TuneSettings& settings) {
  if (!has_room_for_candidate()) {
    result_.end = TuneEnd::kOutOfBudget;
    return false;
  }
  const Trial trial = trials_.run_candidate(settings, at_best_, result_.noise, confirmation_s());
  if (trial.measured.timed_out) result_.end = TuneEnd::kOutOfBudget;
  if (trial.wins) {
    best_ = settings;
    at_best_ = trial.measured;
  }
  return trial.wins;
}

void TuneSearch::try_batch_sizes() {
  const int64_t before = best_.batch_size;
  std::optional<int64_t> failed;  // for want of memory, as a rule
  for (const int64_t batch_size : limits_.batch_sizes) {
    TuneSettings next = best_;
    next.batch_size = batch_size;
    if (trials_.was_tried(next)) continue;
    if (failed) {
      trials_.skip(next, fmt::format("Not tried: a batch of {} failed.", *failed));
      continue;
    }
    try_candidate(next);
    const Trial& last = trials_.list().back();
    if (last.settings == next && has_failed(last.measured)) failed = batch_size;
  }
  if (best_.batch_size == before) return;
  if (!has_room_for_candidate()) {
    result_.end = TuneEnd::kOutOfBudget;
    return;
  }
  result_.end = TuneEnd::kNothingPays;
  measure_ceiling();
  tune_input();
}

void TuneSearch::confirm() {
  result_.found = best_;
  if (best_ == result_.baseline) return;
  result_.confirmation = Confirmation::kUnconfirmed;
  Repeated before, after;
  for (int round = 0; round < kMostConfirmations && trials_.budget().has_room_for(confirmation_s());
       ++round) {
    const Measured old = trials_.run(TrialKind::kConfirmation, result_.baseline, winner_s());
    const Measured found = trials_.run(TrialKind::kConfirmation, best_, /*reserve_s=*/0);
    if (has_failed(old) || has_failed(found)) result_.confirmation = Confirmation::kFailed;
    if (!old.failure.empty() || !found.failure.empty()) break;
    before.add(old);
    after.add(found);
  }
  if (before.empty()) return;
  result_.at_baseline = result_.at_chosen = before.median();
  result_.confirmation = Confirmation::kNotFaster;
  if (after.median().images_per_s <= before.median().images_per_s * (1 + kLeastNoise)) return;
  result_.confirmation = Confirmation::kFaster;
  result_.at_chosen = after.median();
  result_.chosen = best_;
}

/// In doubt it isn't: the ceiling may be higher by as much as its trial's steps vary.
bool TuneSearch::is_at_ceiling() const {
  const auto ceiling = ceilings_.find(best_.batch_size);
  if (ceiling == ceilings_.end()) return false;
  const double highest = ceiling->second.images_per_s * (1 + ceiling->second.plus_minus);
  return at_best_.images_per_s >= kCeilingShare * highest;
}

/// Of another trial of the best: a larger batch's takes longer than others.
double TuneSearch::winner_s() const { return std::max(trials_.budget().expected_s(), at_best_.again_s); }

double TuneSearch::confirmation_s() const { return trials_.budget().expected_s() + winner_s(); }

bool TuneSearch::has_room_for_candidate() const {
  return trials_.budget().has_room_for(winner_s() + confirmation_s());
}

}  // namespace slipstream
