#pragma once

#include "app/command.h"

namespace slipstream {

/// `slipstream synth DIR [--classes N] [--train N] [--val N] [--seed N] [--max-size N] [--force]`
Command add_synth_command(CLI::App& app);

}  // namespace slipstream
