#include "app/compare_runner.h"

#include <fmt/format.h>

#include <filesystem>
#include <iostream>

#include "app/console_text.h"
#include "app/run_watch.h"
#include "app/units.h"
#include "data/error.h"
#include "pipeline/stop_signal.h"

namespace slipstream {
namespace fs = std::filesystem;
namespace {

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

void require_done(const PlannedRun& run, const SweepResult& result, const SweepFolder& folder) {
  if (result.status == RunStatus::kDone) return;
  throw Error(fmt::format("{}: {}. {} Its output is in {}.", run.place, status_name(result.status),
                          failure_words(result), folder.run_folder(run)));
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
    const auto result = watch_run(run, console, [&] {
      if (!line.is_due()) return false;
      line.show(progress_text(done, runs.size(), run, console.now() - start_s));
      return false;
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
