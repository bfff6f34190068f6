#pragma once

#include "app/command.h"

namespace slipstream {

/// `slipstream summary DIR... [--epoch N]`
Command add_summary_command(CLI::App& app);

}  // namespace slipstream
