#pragma once

#include <ostream>
#include <string>

#include "app/progress_line.h"
#include "pipeline/run_observer.h"

namespace slipstream {

/// What a person watches: progress, a line and a sentence after each epoch, and messages.
class ConsoleObserver final : public RunObserver {
 public:
  /// `all_bad_files`: where a person finds those beyond the first few.
  ConsoleObserver(std::ostream& out, Console console, std::string all_bad_files = "bad_files.txt");

  void on_message(const std::string& sentence) override;
  void on_indexed(int64_t classes_done, int64_t classes, int64_t files) override;
  void on_start(int64_t epoch, int64_t step) override;
  void on_progress(const Progress& progress) override;
  void on_step(const StepRecord&) override {}
  void on_epoch(const EpochReport& report) override;
  void on_trace(const Trace& trace) override;
  void on_bad_file(const std::string& path, const std::string& why) override;

 private:
  ProgressLine line_;
  std::string all_bad_files_;
  int64_t bad_files_ = 0;
};

}  // namespace slipstream
