#include "app/progress_line.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace slipstream {
namespace {

constexpr int kPlainColumns = 160;
constexpr double kSecondsBetweenLines = 10;
constexpr double kSecondsBetweenRewrites = 0.1;

int columns_of_stdout() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

double monotonic_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

Console console_of_stdout() {
  const char* term = std::getenv("TERM");
  const bool rewrites = term != nullptr && std::string_view(term) != "dumb";
  return {isatty(STDOUT_FILENO) == 1 && rewrites, columns_of_stdout, monotonic_seconds};
}

ProgressLine::ProgressLine(std::ostream& out, Console console)
    : out_(out), console_(std::move(console)), last_shown_(console_.now()) {}

ProgressLine::~ProgressLine() {
  if (line_open_) out_ << std::endl;
}

bool ProgressLine::is_due() {
  const double now = console_.now();
  if (now - last_shown_ < (console_.terminal ? kSecondsBetweenRewrites : kSecondsBetweenLines)) return false;
  last_shown_ = now;
  return true;
}

int ProgressLine::columns() const {
  // A terminal's last column stays free: some wrap when it is written to.
  return console_.terminal ? console_.columns() - 1 : kPlainColumns;
}

void ProgressLine::show(const std::string& text) {
  const std::string shown = text.substr(0, static_cast<size_t>(std::max(0, columns())));
  if (!console_.terminal) return print(shown);
  out_ << '\r' << shown << "\x1b[K" << std::flush;
  line_open_ = true;
}

void ProgressLine::print(const std::string& text) {
  if (line_open_) out_ << "\r\x1b[K";
  line_open_ = false;
  out_ << text << std::endl;
}

}  // namespace slipstream
