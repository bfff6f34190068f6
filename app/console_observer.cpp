#include "app/console_observer.h"

#include <fmt/format.h>

#include <utility>

#include "app/console_text.h"
#include "app/units.h"
#include "pipeline/trace.h"

namespace slipstream {
namespace {

constexpr int64_t kBadFilesShown = 5;

}  // namespace

ConsoleObserver::ConsoleObserver(std::ostream& out, Console console, std::string all_bad_files)
    : line_(out, std::move(console)), all_bad_files_(std::move(all_bad_files)) {}

void ConsoleObserver::on_message(const std::string& sentence) { line_.print(sentence); }

void ConsoleObserver::on_indexed(int64_t classes_done, int64_t classes, int64_t files) {
  if (!line_.is_due()) return;
  line_.show(fmt::format("indexing: {} of {} classes, {} files", classes_done, classes, files));
}

void ConsoleObserver::on_start(int64_t epoch, int64_t step) {
  if (epoch == 1 && step == 0) return;
  line_.print(step == 0 ? fmt::format("Continuing with epoch {}.", epoch)
                        : fmt::format("Continuing epoch {} after step {}.", epoch, step));
}

void ConsoleObserver::on_progress(const Progress& progress) {
  if (!line_.is_due()) return;
  line_.show(progress_text(progress, line_.columns()));
}

void ConsoleObserver::on_epoch(const EpochReport& report) {
  line_.print(epoch_text(report));
  if (!report.bottleneck.empty()) line_.print(report.bottleneck);
}

void ConsoleObserver::on_trace(const Trace& trace) {
  if (trace.left_out() == 0) return;
  line_.print(fmt::format("The trace is full: {} spans are left out; record fewer steps by --trace-steps.",
                          trace.left_out()));
}

void ConsoleObserver::on_bad_file(const std::string& path, const std::string& why) {
  if (++bad_files_ <= kBadFilesShown) line_.print(fmt::format("Left out {}: {}", path, why));
  if (bad_files_ == kBadFilesShown) {
    line_.print(fmt::format("Further files that are left out are in {} only.", all_bad_files_));
  }
}

}  // namespace slipstream
