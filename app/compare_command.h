#pragma once

#include "app/command.h"

namespace slipstream {

/// `slipstream compare --data DIR [options]`
Command add_compare_command(CLI::App& app);

}  // namespace slipstream
