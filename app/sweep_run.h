#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "app/child_process.h"
#include "app/sweep_folder.h"
#include "app/sweep_results.h"

namespace slipstream {

/// What all runs of a sweep share.
struct RunSettings {
  std::string executable;  ///< of slipstream
  double timeout_s = 0;    ///< after which a run is stopped; 0: never
  double grace_s = 0;      ///< from SIGTERM to SIGKILL
  int lock = -1;           ///< that a run keeps as long as it lives
  int64_t threads = 0;     ///< of a run's work on the CPU, as OMP_NUM_THREADS; 0: not set
};

/// One run of a sweep, as a process of `slipstream train` whose output goes to files in the run's folder:
/// output.txt and errors.txt. Times are seconds from any origin.
class SweepRun {
 public:
  /// Readies the folder and starts the process. `gpu`: what CUDA_VISIBLE_DEVICES is set to; empty: nothing.
  SweepRun(const PlannedRun& run, const SweepFolder& folder, bool anew, const std::string& gpu,
           const RunSettings& settings, double now);

  /// Whether it has ended. Where its time is over, asks it to stop; where it then doesn't, kills it.
  bool has_ended(double now);
  /// Asks it to write a checkpoint and stop.
  void stop(double now);

  /// Of a run that has ended; empty if `stop` ended it, since it is to be resumed.
  std::optional<SweepResult> result() const;

  const PlannedRun& planned() const { return run_; }
  bool was_resumed() const { return resumed_; }
  int64_t epochs_done() const;  ///< by its reports
  double share_done() const;    ///< of its epochs

 private:
  void ask_to_end(double now);
  RunStatus status() const;
  std::string error() const;

  const PlannedRun& run_;
  const RunSettings& settings_;
  std::string folder_;
  bool resumed_;
  double start_s_, end_s_ = 0;
  ChildProcess process_;
  std::optional<ChildEnd> end_;
  bool stopped_ = false, timed_out_ = false, killed_ = false;
  std::optional<double> asked_s_;  // when it was asked to end
};

}  // namespace slipstream
