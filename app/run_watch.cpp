#include "app/run_watch.h"

#include <chrono>
#include <string_view>
#include <thread>

#include "pipeline/stop_signal.h"

namespace slipstream {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks(50);

}  // namespace

std::optional<SweepResult> watch_run(SweepRun& run, const Console& console,
                                     const std::function<bool()>& has_enough) {
  bool stopping = false;
  while (!run.has_ended(console.now())) {
    if (!stopping && (StopSignal::requested() != 0 || has_enough())) {
      stopping = true;
      run.stop(console.now());
    }
    std::this_thread::sleep_for(kBetweenLooks);
  }
  return run.result();
}

std::string failure_words(const SweepResult& result) {
  constexpr std::string_view kSaid = "slipstream: ";
  return result.error.starts_with(kSaid) ? result.error.substr(kSaid.size()) : result.error;
}

}  // namespace slipstream
