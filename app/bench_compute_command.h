#pragma once

#include "app/command.h"

namespace slipstream {

/// `slipstream bench compute [options]`: the rate of the training step without input.
Command add_bench_compute_command(CLI::App& bench);

}  // namespace slipstream
