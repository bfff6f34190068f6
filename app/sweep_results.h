#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "app/json.h"
#include "data/unique_fd.h"

namespace slipstream {

enum class RunStatus {
  kDone,
  kFailed,
  kTimedOut,
  kKilled,  ///< by somebody else's SIGKILL: as a rule Linux, for want of memory
};

std::string status_name(RunStatus status);  ///< "done", "failed", "timed out", "out of memory"

/// How one run of a sweep ended.
struct SweepResult {
  std::string name;
  Json config;  ///< as in PlannedRun
  RunStatus status = RunStatus::kDone;
  std::string error;  ///< why it isn't done; its last words where it had some
  double run_s = 0;   ///< of the process that ended it: less than the whole where it was resumed
  Json epoch;         ///< the last epoch in its report; null if it has none
};

/// The results of a sweep so far, in a file with a line of JSON for each. A run is known by its
/// configuration; the last of several lines for one counts.
class SweepResults {
 public:
  /// Reads the file, if it is there. Throws Error naming the line that is no result; a last line that a crash
  /// cut off doesn't count.
  explicit SweepResults(std::string file);

  const SweepResult* find(const Json& config) const;

  /// Returns once the result is on the disk. Throws Error naming the file.
  void add(const SweepResult& result);

 private:
  void read();
  void open();

  std::string file_;
  std::map<std::string, SweepResult> by_config_;
  int64_t whole_bytes_ = 0;  // up to the end of the last whole line that was read
  UniqueFd appended_;
};

/// A result as an object of results.json and a line of results.jsonl, and back. Throws std::exception if the
/// record is no such object.
Json result_record(const SweepResult& result);
SweepResult result_of(const Json& record);

}  // namespace slipstream
