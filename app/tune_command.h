#pragma once

#include "app/command.h"

namespace slipstream {

/// `slipstream tune --data DIR [options]`
Command add_tune_command(CLI::App& app);

}  // namespace slipstream
