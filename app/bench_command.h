#pragma once

#include "app/command.h"

namespace slipstream {

/// `slipstream bench PART [options]`: measures a part of the work by itself.
Command add_bench_command(CLI::App& app);

}  // namespace slipstream
