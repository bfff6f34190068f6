#pragma once

#include <iosfwd>
#include <string>

#include "app/json.h"
#include "app/progress_line.h"
#include "app/sweep_folder.h"
#include "app/tune_trial.h"

namespace slipstream {

struct TrainOptions;

/// SIGINT or SIGTERM came, and the trial under way has ended.
struct StoppedBySignal {
  int number = 0;
};

/// Measures by short trainings, each a process of its own, one after the other: on a CPU input and step share
/// the cores, so the input alone would say little. A trial is ended once it has gone on for long enough; it
/// keeps no weights. A StopSignal must live.
class TuneMeter {
 public:
  /// `trial_s`: of a trial, start-up included, where that makes enough steps. `scratch`: a folder for its
  /// files. `other_images`: each trial reads others, where memory doesn't hold all and a training would find
  /// none there.
  TuneMeter(const TrainOptions& options, std::string scratch, double trial_s, bool other_images,
            const Console& console);

  /// Throws StoppedBySignal. `progress`: what goes on, on a terminal; may be null.
  Measured measure(TrialKind kind, const TuneSettings& settings, double timeout_s, ProgressLine* progress);

 private:
  Json config_;
  SweepFolder folder_;
  std::string executable_;
  double trial_s_;
  bool other_images_;
  Console console_;
};

}  // namespace slipstream
