#include "app/compare_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <iostream>
#include <optional>
#include <string_view>
#include <thread>

#include "app/console_text.h"
#include "app/units.h"
#include "data/error.h"
#include "pipeline/stop_signal.h"

namespace slipstream {
namespace fs = std::filesystem;
namespace {

constexpr std::chrono::milliseconds kBetweenLooks(50);

/// "compare 3/12 [====>     ]  left 1 min 40 s  round 1, pinned, CPU decode: epoch 1/2"
std::string progress_text(size_t done, size_t all, const SweepRun& run, double elapsed_s) {
  constexpr int kBar = 22;
  const double share = (static_cast<double>(done) + run.share_done()) / static_cast<double>(all);
  std::string text = fmt::format("compare {}/{} {}", done, all,
                                 progress_bar(static_cast<int64_t>(done), static_cast<int64_t>(all), kBar));
  if (share > 0) text += "  left " + seconds_text(elapsed_s * (1 - share) / share);
  return text + fmt::format("  {}: {}/{} epochs", run.planned().place, run.epochs_done(),
                            run.planned().config.at("epochs").get<int64_t>());
}

/// Empty if the run was stopped.
std::optional<SweepResult> run_one(SweepRun& run, const Console& console,
                                   const std::function<void()>& at_each_look) {
  bool stopping = false;
  while (!run.has_ended(console.now())) {
    if (StopSignal::requested() != 0 && !stopping) {
      stopping = true;
      run.stop(console.now());
    }
    at_each_look();
    std::this_thread::sleep_for(kBetweenLooks);
  }
  return run.result();
}

void require_done(const PlannedRun& run, const SweepResult& result, const SweepFolder& folder) {
  if (result.status == RunStatus::kDone) return;
  std::string words = result.error;
  if (constexpr std::string_view kSaid = "slipstream: "; words.starts_with(kSaid)) {
    words.erase(0, kSaid.size());
  }
  throw Error(fmt::format("{}: {}. {} Its output is in {}.", run.place, status_name(result.status), words,
                          folder.run_folder(run)));
}

}  // namespace

int run_in_turn(const std::vector<PlannedRun>& runs, const SweepFolder& folder, const RunSettings& settings,
                const Console& console) {
  const StopSignal stop_signal;
  ProgressLine line(std::cout, console);
  const double start_s = console.now();
  for (size_t done = 0; done < runs.size(); ++done) {
    const PlannedRun& planned = runs[done];
    SweepRun run(planned, folder, /*anew=*/true, /*gpu=*/"", settings, console.now());
    const auto result = run_one(run, console, [&] {
      if (!line.is_due()) return;
      const std::string text = progress_text(done, runs.size(), run, console.now() - start_s);
      line.show(text.substr(0, static_cast<size_t>(std::max(0, line.columns()))));
    });
    for (const char* weights : {"checkpoint.pt", "model.pt"}) {  // of a large network: gigabytes in the end
      fs::remove(fs::path(folder.run_folder(planned)) / weights);
    }
    if (!result || StopSignal::requested() != 0) return StopSignal::requested();
    require_done(planned, *result, folder);
    line.print(fmt::format("{}: {}, the last epoch {}", planned.place, seconds_text(result->run_s),
                           seconds_text(result->epoch.at("wall_s").get<double>())));
  }
  return 0;
}

}  // namespace slipstream
