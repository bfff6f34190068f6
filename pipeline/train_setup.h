#pragma once

#include <c10/core/Device.h>

#include <string>

#include "pipeline/loader_options.h"
#include "pipeline/train_options.h"

namespace slipstream {

/// TrainOptions with every "auto" decided and every combination checked: what runs.
struct TrainSetup {
  TrainOptions options;  ///< as asked for, with workers and val_resize filled in
  c10::Device device;
  bool decode_on_device = false;
  std::string train_dir;
  std::string val_dir;  ///< empty: no validation

  /// The compute stream isn't part of the setup: it is made once the run starts.
  LoaderOptions loader_options(c10::Stream compute) const;
  c10::ScalarType compute_type() const;  ///< of activations: float32, float16 or bfloat16
  std::string decoder_name() const;      ///< "cpu", "cuda" or "none", for reports
  std::string schedule_name() const;     ///< "overlapped, CPU decode", for people
};

/// Throws UsageError that names the option and what to do: folders that are missing, what the build or the
/// machine lacks, options that exclude each other.
TrainSetup resolve(const TrainOptions& options);

/// Whether `--decode cuda` is possible: this build has a decoder for the device.
bool can_decode_on(c10::Device device);

std::string mode_name(Mode mode);

}  // namespace slipstream
