#include "app/tune_trials.h"

#include <algorithm>

#include "app/tune_text.h"
#include "data/error.h"

namespace slipstream {

Measured TuneTrials::run(TrialKind kind, const TuneSettings& settings, double reserve_s) {
  const Trial trial = measured(kind, settings, reserve_s);
  add(trial);
  return trial.measured;
}

Measured TuneTrials::run_required(TrialKind kind, const TuneSettings& settings, double reserve_s) {
  Measured measured = run(kind, settings, reserve_s);
  if (!measured.failure.empty()) throw Error(failure_text(kind, settings, measured.failure));
  return measured;
}

Trial TuneTrials::run_candidate(const TuneSettings& settings, const Measured& best, double noise,
                                double reserve_s) {
  Trial trial = measured(TrialKind::kCandidate, settings, reserve_s);
  if (trial.measured.failure.empty()) {
    trial.gain = trial.measured.images_per_s / best.images_per_s - 1;
    trial.wins = *trial.gain > std::max({noise, trial.measured.plus_minus, best.plus_minus});
  }
  add(trial);
  return trial;
}

void TuneTrials::skip(const TuneSettings& settings, const std::string& why) {
  Trial trial = {.kind = TrialKind::kCandidate, .settings = settings};
  trial.measured.failure = why;
  add(trial);
}

bool TuneTrials::was_tried(const TuneSettings& settings) const {
  return std::ranges::any_of(list_, [&](const Trial& trial) {
    return trial.settings == settings && trial.kind != TrialKind::kCeiling;
  });
}

Trial TuneTrials::measured(TrialKind kind, const TuneSettings& settings, double reserve_s) {
  Trial trial = {.kind = kind, .settings = settings};
  trial.measured = measure_(kind, settings, budget_.left_s() - reserve_s);
  if (kind == TrialKind::kWarmUp) {
    budget_.spend_first(trial.measured.took_s, trial.measured.again_s);
  } else {
    budget_.spend(trial.measured.took_s);
  }
  return trial;
}

void TuneTrials::add(const Trial& trial) {
  list_.push_back(trial);
  on_trial_(trial);
}

}  // namespace slipstream
