#pragma once

#include <functional>

#include "models/resnet.h"
#include "pipeline/batch.h"
#include "pipeline/train_setup.h"

namespace slipstream {

/// Means over the labelled images of a pass.
struct Evaluation {
  int64_t images = 0;
  double loss = 0;  ///< cross entropy, without label smoothing
  double top1 = 0;  ///< 0 to 1
  double top5 = 0;  ///< the label is among the five (or all, if fewer) likeliest classes
};

/// Evaluates the source's current pass to its end. The host waits once, at the end.
/// `each_batch` gets every batch before it is used.
Evaluation evaluate(ResNet& model, BatchSource& source, const TrainSetup& setup, c10::Stream compute,
                    const std::function<void(const Batch&)>& each_batch);

}  // namespace slipstream
