#pragma once

#include "app/option_table.h"
#include "pipeline/train_options.h"

namespace slipstream {

/// The table of `options`, whose values are the defaults. `options` must outlive it.
OptionTable train_options_table(TrainOptions& options);

}  // namespace slipstream
