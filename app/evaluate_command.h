#pragma once

#include "app/command.h"

namespace slipstream {

/// `slipstream evaluate [options]`: a network's accuracy on a folder of images.
Command add_evaluate_command(CLI::App& app);

}  // namespace slipstream
