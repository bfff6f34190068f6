#pragma once

#include <string>
#include <vector>

#include "app/option_table.h"
#include "pipeline/train_options.h"

namespace slipstream {

/// The table of `options`, whose values are the defaults. `options` must outlive it.
OptionTable train_options_table(TrainOptions& options);

/// What OptionTable::keep takes for a command that reads images: the keys of the input path, and `more`.
std::vector<std::string> input_options(std::vector<std::string> more);

/// For one that runs a network on them, too: those, the keys of the network, and `more`.
std::vector<std::string> network_options(std::vector<std::string> more);

}  // namespace slipstream
