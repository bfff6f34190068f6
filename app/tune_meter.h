#pragma once

#include <string>
#include <vector>

#include "app/json.h"
#include "app/progress_line.h"
#include "app/sweep_folder.h"
#include "app/tune_trial.h"
#include "pipeline/run_observer.h"

namespace slipstream {

struct TrainOptions;

/// SIGINT or SIGTERM came, and the trial under way has ended.
struct StoppedBySignal {
  int number = 0;
};

struct TuneMeterOptions {
  std::string executable;  ///< of slipstream
  std::string scratch;     ///< a folder for the trials' files
  double trial_s = 0;      ///< of a trial, start-up included, where that is enough to measure
  bool other_images =
      false;  ///< each trial reads others: memory doesn't hold all, so a training finds none there
};

/// Measures by short trainings, each a process of its own, one after the other: on a CPU input and step share
/// the cores, so the input alone would say little. A trial is ended once it has gone on for long enough; it
/// keeps no weights. A StopSignal must live.
class TuneMeter {
 public:
  TuneMeter(const TrainOptions& training, TuneMeterOptions options, Console console);

  /// Throws StoppedBySignal. `progress`: where to show what goes on; may be null.
  Measured measure(TrialKind kind, const TuneSettings& settings, double timeout_s, ProgressLine* progress);

 private:
  PlannedRun planned(TrialKind kind, const TuneSettings& settings);
  bool is_enough(const std::vector<StepRecord>& steps, const TuneSettings& settings) const;
  Measured measured(const std::vector<StepRecord>& steps, const TuneSettings& settings, double took_s) const;

  Json config_;
  TuneMeterOptions options_;
  SweepFolder folder_;
  Console console_;
};

}  // namespace slipstream
