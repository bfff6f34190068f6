#pragma once

#include "models/resnet.h"
#include "pipeline/train_setup.h"

namespace slipstream {

inline constexpr int64_t kImageNetClasses = 1000;  // of synthetic batches

/// Tells LibTorch how to compute, for the whole process: cuDNN's benchmark, determinism, TF32; and, where the
/// CPU computes, the C library to keep what is freed.
void set_global_switches(const TrainSetup& setup);

/// The network that the setup asks for, on its device, in its layout, with its weights.
ResNet make_model(const TrainSetup& setup, int64_t classes);

}  // namespace slipstream
