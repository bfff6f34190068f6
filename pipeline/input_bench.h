#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/image_folder.h"
#include "pipeline/run_observer.h"
#include "pipeline/trace.h"
#include "pipeline/train_setup.h"

namespace slipstream {

/// What the input path did by itself in one mode with one decoder, measured from one batch's hand-over to
/// another's: the moments at which the compute stream could begin with them.
struct InputRate {
  std::string mode;
  std::string decode;
  int64_t images = 0;     ///< those of bad files are left out
  int64_t bad_files = 0;  ///< samples that were skipped
  double wall_s = 0;
  double cpu_s = 0;                             ///< of the whole process, user and system
  double latency_p50_s = 0;                     ///< between one batch's hand-over and the next
  double latency_p95_s = 0, latency_p99_s = 0;  ///< by nearest rank
  StageTimes times;                             ///< of the measured batches; the input's stages alone
  std::shared_ptr<const Trace> trace;           ///< of the first batches, if the options ask for one
  std::optional<double> jpeg_util;              ///< mean use of the GPU's JPEG engines, 0 to 1

  double images_per_s() const { return static_cast<double>(images) / wall_s; }
  double cores() const { return cpu_s / wall_s; }
  double cpu_s_per_1000_images() const { return cpu_s / static_cast<double>(images) * 1000; }
};

/// Takes training batches from `folder` as fast as they come, gives each back at once, and measures. All are
/// full: the folder, which outlives the rate's trace and holds an image at least, is gone through as often as
/// it takes. Batches before the measured ones fill the ring; batches behind them keep the threads as busy at
/// the end as at the start.
///
/// `batches`: how many to measure; 0: as many as come in 5 seconds, 10 at least. Throws Error naming a bad
/// file where the policy is to stop.
InputRate measure_input(const TrainSetup& setup, const ImageFolder& folder, int64_t batches);

}  // namespace slipstream
