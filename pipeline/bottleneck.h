#pragma once

#include <string>

#include "pipeline/gpu_monitor.h"
#include "pipeline/run_observer.h"
#include "pipeline/train_setup.h"

namespace slipstream {

/// Seconds that the input took by itself: host stages shared among the threads that did them, plus what the
/// device did for it.
double input_seconds(const StageTimes& times, const TrainSetup& setup);

/// Share of the input's time that ran behind compute: 1 - data wait / input, within 0 to 1.
double hidden_share(const StageTimes& times, const TrainSetup& setup);

/// Whether waiting for data takes a share of an epoch that is worth a change; below it compute is the limit.
bool is_input_bound(double data_wait_share);

/// One sentence that names what limits the epoch and the option to try, and whether the GPU's power limit
/// held its clock down meanwhile.
std::string bottleneck(const StageTimes& times, double wall_s, const TrainSetup& setup,
                       const GpuUse& gpu = {});

}  // namespace slipstream
