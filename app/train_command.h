#pragma once

#include "app/command.h"

namespace slipstream {

/// `slipstream train --data DIR [--config FILE] [options] [--print-config]`
Command add_train_command(CLI::App& app);

}  // namespace slipstream
