#include "app/console_observer.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "app/console_text.h"
#include "app/units.h"

namespace slipstream {
namespace {

constexpr int kPlainColumns = 160;
constexpr double kSecondsBetweenLines = 10;
constexpr double kSecondsBetweenRewrites = 0.1;
constexpr int64_t kBadFilesShown = 5;

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

ConsoleObserver::ConsoleObserver(std::ostream& out, Console console)
    : out_(out), console_(std::move(console)), last_progress_(console_.now()) {}

ConsoleObserver::~ConsoleObserver() {
  if (line_open_) out_ << std::endl;
}

void ConsoleObserver::on_message(const std::string& sentence) { print_line(sentence); }

void ConsoleObserver::on_indexed(int64_t classes_done, int64_t classes, int64_t files) {
  if (!progress_is_due()) return;
  show_progress(fmt::format("indexing: {} of {} classes, {} files", classes_done, classes, files));
}

void ConsoleObserver::on_start(int64_t epoch, int64_t step) {
  if (epoch == 1 && step == 0) return;
  print_line(step == 0 ? fmt::format("Continuing with epoch {}.", epoch)
                       : fmt::format("Continuing epoch {} after step {}.", epoch, step));
}

void ConsoleObserver::on_progress(const Progress& progress) {
  if (!progress_is_due()) return;
  // A terminal's last column stays free: some wrap when it is written to.
  show_progress(progress_text(progress, console_.terminal ? console_.columns() - 1 : kPlainColumns));
}

void ConsoleObserver::on_epoch(const EpochReport& report) {
  print_line(epoch_text(report));
  if (!report.bottleneck.empty()) print_line(report.bottleneck);
}

void ConsoleObserver::on_bad_file(const std::string& path, const std::string& why) {
  if (++bad_files_ <= kBadFilesShown) print_line(fmt::format("Left out {}: {}", path, why));
  if (bad_files_ == kBadFilesShown) print_line("Further files that are left out are in bad_files.txt only.");
}

bool ConsoleObserver::progress_is_due() {
  const double now = console_.now();
  if (now - last_progress_ < (console_.terminal ? kSecondsBetweenRewrites : kSecondsBetweenLines))
    return false;
  last_progress_ = now;
  return true;
}

void ConsoleObserver::show_progress(const std::string& text) {
  if (!console_.terminal) return print_line(text);
  out_ << '\r' << text << "\x1b[K" << std::flush;
  line_open_ = true;
}

void ConsoleObserver::print_line(const std::string& text) {
  if (line_open_) out_ << "\r\x1b[K";
  line_open_ = false;
  out_ << text << std::endl;
}

}  // namespace slipstream
