#pragma once

#include <functional>
#include <ostream>
#include <string>

namespace slipstream {

/// What the program knows of the place it writes to.
struct Console {
  bool terminal = false;         ///< progress is one line, rewritten; otherwise a line every ten seconds
  std::function<int()> columns;  ///< asked before each rewrite: windows change size
  std::function<double()> now;   ///< seconds, from any origin
};

Console console_of_stdout();

/// Lines that stay, and one of progress beneath them.
class ProgressLine {
 public:
  ProgressLine(std::ostream& out, Console console);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// Whether it is time to show progress again; true starts the time anew.
  bool is_due();
  /// The most that `show` has room for; it cuts the rest off.
  int columns() const;
  void show(const std::string& text);
  void print(const std::string& text);

 private:
  std::ostream& out_;
  Console console_;
  double last_shown_;
  bool line_open_ = false;  // the cursor stands behind a progress line
};

}  // namespace slipstream
