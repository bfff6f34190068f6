#pragma once

#include "app/json.h"
#include "app/tune_search.h"
#include "pipeline/train_options.h"

namespace slipstream {

/// The settings under train's names.
Json settings_record(const TuneSettings& settings);

/// All that was measured, for programs.
Json tune_record(const TuneResult& result);

/// What `train --config` reads: the options that aren't train's defaults, and those that were tuned.
Json tuned_config(const TrainOptions& options, const TuneSettings& chosen);

}  // namespace slipstream
