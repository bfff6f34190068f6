#pragma once

#include "app/command.h"

namespace slipstream {

/// `slipstream bench input --data DIR [options]`: the rate of the input path without a model.
Command add_bench_input_command(CLI::App& bench);

}  // namespace slipstream
