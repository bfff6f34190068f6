#pragma once

#include <cstdint>
#include <string>

#include "app/json_output.h"
#include "app/option_table.h"
#include "app/tune_search.h"
#include "pipeline/train_options.h"

namespace slipstream {

/// The command line of `tune`: train's options, which may begin with a file of them, and its own.
struct TuneLine {
  TuneLine();
  ~TuneLine() = default;
  TuneLine(const TuneLine&) = delete;
  TuneLine& operator=(const TuneLine&) = delete;

  /// Sets `options` and the rest from the file and the flags. Throws UsageError.
  void read();
  /// For that many images. Throws UsageError.
  TuneLimits limits(int64_t images) const;
  /// How long a trial goes on.
  double trial_s() const;

  TrainOptions options;
  OptionTable train;  ///< of --config's file
  OptionTable flags;
  std::string config, batch_sizes, out = "tuned.json";
  double budget = 180, trial = 0;
  JsonOutput json;

 private:
  void check() const;
};

}  // namespace slipstream
