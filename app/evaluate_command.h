#pragma once

#include "app/command.h"

namespace slipstream {

Command add_evaluate_command(CLI::App& app);

}  // namespace slipstream
