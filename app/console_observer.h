#pragma once

#include <functional>
#include <ostream>
#include <string>

#include "pipeline/run_observer.h"

namespace slipstream {

/// What the console observer knows of the place it writes to.
struct Console {
  bool terminal = false;         ///< progress is one line, rewritten; otherwise a line every ten seconds
  std::function<int()> columns;  ///< asked before each rewrite: windows change size
  std::function<double()> now;   ///< seconds, from any origin
};

Console console_of_stdout();

/// What a person watches: progress, a line and a sentence after each epoch, and messages.
class ConsoleObserver final : public RunObserver {
 public:
  ConsoleObserver(std::ostream& out, Console console);
  ~ConsoleObserver() override;
  ConsoleObserver(const ConsoleObserver&) = delete;
  ConsoleObserver& operator=(const ConsoleObserver&) = delete;

  void on_message(const std::string& sentence) override;
  void on_indexed(int64_t classes_done, int64_t classes, int64_t files) override;
  void on_start(int64_t epoch, int64_t step) override;
  void on_progress(const Progress& progress) override;
  void on_step(const StepRecord&) override {}
  void on_epoch(const EpochReport& report) override;
  void on_bad_file(const std::string& path, const std::string& why) override;

 private:
  bool progress_is_due();
  void show_progress(const std::string& text);
  void print_line(const std::string& text);

  std::ostream& out_;
  Console console_;
  double last_progress_;
  bool line_open_ = false;  // the cursor stands behind a progress line
  int64_t bad_files_ = 0;
};

}  // namespace slipstream
