#pragma once

#include <string>

#include "pipeline/run_observer.h"

namespace slipstream {

/// "epoch 3/90 [====>   ] 412/5,004  6,104 images/s  loss 2.314  lr 0.099  wait 0.4%  left 1 h 23 min" in at
/// most `columns` characters: the last facts give way first, then the bar.
std::string progress_text(const Progress& progress, int columns);

/// "[====>    ]", `columns` wide.
std::string progress_bar(int64_t done, int64_t all, int columns);

/// One line of all that is known about an epoch.
std::string epoch_text(const EpochReport& report);

}  // namespace slipstream
