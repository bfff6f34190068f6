#pragma once

#include "app/command.h"

namespace slipstream {

/// `slipstream doctor`: the build, the machine, and what of it would be slow or fail.
Command add_doctor_command(CLI::App& app);

}  // namespace slipstream
