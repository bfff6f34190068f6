#pragma once

#include "app/command.h"

namespace slipstream {

/// `slipstream sweep FILE.json [options]`
Command add_sweep_command(CLI::App& app);

}  // namespace slipstream
