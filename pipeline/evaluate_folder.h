#pragma once

#include <vector>

#include "pipeline/evaluate.h"
#include "pipeline/run_observer.h"

namespace slipstream {

/// How a network does on a folder.
struct FolderEvaluation {
  Evaluation means;
  double wall_s = 0;  ///< from the first file to the last result; indexing and loading weights not
  std::vector<BadFile> bad_files;
};

/// Evaluates the setup's network, with its weights, on the images of `setup.train_dir`, whose classes in
/// their order are the network's: resized and cropped as a validation's. Blocks until done. Throws Error
/// naming a bad file where the policy is to stop.
FolderEvaluation evaluate_folder(const TrainSetup& setup, RunObserver& observer);

}  // namespace slipstream
