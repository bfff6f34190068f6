#pragma once

#include "app/command.h"

namespace slipstream {

/// `slipstream report DIR... [--out FILE.html] [--markdown FILE.md]`
Command add_report_command(CLI::App& app);

}  // namespace slipstream
