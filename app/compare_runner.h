#pragma once

#include <vector>

#include "app/progress_line.h"
#include "app/sweep_folder.h"
#include "app/sweep_run.h"

namespace slipstream {

/// Does the runs anew, one after the other, each as a process of its own, so that none finds the memory, the
/// algorithms or the caches of another; keeps no weights. Returns once all are done, or once SIGINT or
/// SIGTERM came and the run has stopped: that signal, else 0. Throws Error naming the run that failed.
int run_in_turn(const std::vector<PlannedRun>& runs, const SweepFolder& folder, const RunSettings& settings,
                const Console& console);

}  // namespace slipstream
