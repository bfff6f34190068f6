#pragma once

#include "pipeline/run_observer.h"
#include "pipeline/train_options.h"

namespace slipstream {

struct RunResult {
  int stopped_by_signal = 0;  ///< SIGINT or SIGTERM; the checkpoint was written before
};

/// Trains as the options say, from indexing the folder to the last epoch's report, and leaves in `out`:
/// checkpoint.pt after each epoch and when a signal stops the run, and model.pt, the final weights.
/// Throws UsageError before anything started, Error once something went wrong; both name what and where.
RunResult train(const TrainOptions& options, RunObserver& observer);

}  // namespace slipstream
