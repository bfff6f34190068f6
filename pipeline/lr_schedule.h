#pragma once

#include "pipeline/train_options.h"

namespace slipstream {

/// The learning rate at `epochs_done`, a fraction of epochs since the start: linear from 0 over the warm-up,
/// then a half cosine to 0 (Loshchilov and Hutter, 2017), or a tenth every 30 epochs, or constant.
double learning_rate(const TrainOptions& options, double epochs_done);

}  // namespace slipstream
