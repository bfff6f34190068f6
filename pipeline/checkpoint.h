#pragma once

#include <cstdint>
#include <string>

#include "models/resnet.h"
#include "pipeline/step_log.h"
#include "pipeline/train_step.h"

namespace slipstream {

/// Where a run stands: `step` steps of `epoch` are done. Order and crops are functions of seed, epoch and
/// sample, so this, the weights and the optimizer's state are all that a run needs to go on.
struct RunPosition {
  int64_t epoch = 1;
  int64_t step = 0;
  StepTotals totals;  ///< of this epoch's steps so far, without times
};

/// What a checkpoint must agree on with the run that resumes it.
struct RunIdentity {
  std::string arch;
  int64_t classes = 0;
  // Of a checkpoint within an epoch only:
  int64_t samples = 0;
  int64_t batch_size = 0;
  int64_t seed = 0;
};

/// Writes weights, optimizer, loss scale and position; the file is there whole or not at all. Waits for the
/// device.
void save_checkpoint(const std::string& path, const ResNet& model, const TrainStep& step,
                     const RunPosition& position, const RunIdentity& identity);

/// Restores them in place. Throws Error that names the file and the option that disagrees.
RunPosition load_checkpoint(const std::string& path, ResNet& model, TrainStep& step,
                            const RunIdentity& identity);

}  // namespace slipstream
