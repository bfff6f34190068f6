#pragma once

#include <functional>
#include <optional>
#include <string>

#include "app/progress_line.h"
#include "app/sweep_run.h"

namespace slipstream {

/// Waits for the run's end, which SIGINT, SIGTERM (of a StopSignal that lives) or `has_enough` bring about
/// earlier; that is asked 20 times a second. Empty if the run was stopped by one of these.
std::optional<SweepResult> watch_run(SweepRun& run, const Console& console,
                                     const std::function<bool()>& has_enough);

/// Why the run isn't done, as a sentence that can stand within another's: without the program's name.
std::string failure_words(const SweepResult& result);

}  // namespace slipstream
