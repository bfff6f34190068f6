#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "app/progress_line.h"
#include "app/sweep_run.h"

namespace slipstream {

/// Which runs a sweep still has to do.
struct DueRun {
  const PlannedRun* run = nullptr;
  bool anew = false;  ///< even if it has a checkpoint
};

/// Those without a result and, if `retries`, those whose result isn't done; a failed one begins anew.
std::deque<DueRun> due_runs(const SweepPlan& plan, const SweepResults& results, bool retries);

/// Does the runs that are due, `jobs` at a time, and records each as it ends. Job i works on the GPU i modulo
/// the number of `gpus`.
class SweepRunner {
 public:
  SweepRunner(const SweepPlan& plan, SweepResults& results, const SweepFolder& folder, RunSettings settings,
              int64_t jobs, std::vector<std::string> gpus, Console console);

  /// Returns once all are recorded, or once SIGINT or SIGTERM came and the runs have stopped: that signal,
  /// else 0.
  int run(std::deque<DueRun> due);

 private:
  /// A process of a run, and what of the run was done when it started.
  struct Job {
    std::unique_ptr<SweepRun> run;
    double share_before = 0;
  };

  void start(Job& job, const std::string& gpu, const DueRun& due);
  void finish(Job& job, const std::string& gpu);
  void record(const SweepResult& result);
  bool is_idle() const;
  double seconds_left() const;
  std::string progress() const;

  const SweepPlan& plan_;
  SweepResults& results_;
  const SweepFolder& folder_;
  RunSettings settings_;
  std::vector<std::string> gpus_;
  Console console_;
  ProgressLine line_;
  std::vector<Job> jobs_;
  double start_s_;
  double due_ = 0;   // runs to do, where a resumed one counts for what is left of it
  double done_ = 0;  // of those, in runs that have ended
};

}  // namespace slipstream
