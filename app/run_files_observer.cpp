#include "app/run_files_observer.h"

#include <fmt/format.h>

#include <cstring>
#include <filesystem>
#include <utility>

#include "app/json_file.h"
#include "app/records.h"
#include "app/run_report.h"
#include "app/trace_file.h"
#include "app/version.h"
#include "data/error.h"
#include "data/file_io.h"

namespace slipstream {
namespace fs = std::filesystem;
namespace {

/// Appends `line` and hands it to the system, so that a run that is killed leaves it behind.
void append(std::ofstream& file, const std::string& path, const std::string& line) {
  errno = 0;
  if (!file.is_open()) file.open(path, std::ios::binary | std::ios::app);
  file << line << std::flush;
  if (!file) throw Error(fmt::format("{}: can't be written: {}.", path, std::strerror(errno)));
}

/// The length of the file's part that records steps up to `step` of `epoch`. Lines are in order; one that was
/// cut off by a crash ends the part.
uintmax_t length_until(const std::string& path, int64_t epoch, int64_t step) {
  std::ifstream file(path, std::ios::binary);
  uintmax_t length = 0;
  for (std::string line; std::getline(file, line) && !file.eof(); length += line.size() + 1) {
    const Json record = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!record.is_object() || !record.contains("epoch") || !record.contains("step")) break;
    if (std::pair(record["epoch"].get<int64_t>(), record["step"].get<int64_t>()) > std::pair(epoch, step))
      break;
  }
  return length;
}

}  // namespace

RunFilesObserver::RunFilesObserver(std::string folder, Json config, bool steps)
    : folder_(std::move(folder)), config_(std::move(config)), steps_(steps) {}

void RunFilesObserver::resume_at(int64_t epoch, int64_t step) {
  std::error_code failure;
  fs::create_directories(folder_, failure);
  if (failure) throw Error(fmt::format("{}: can't be made a folder: {}.", folder_, failure.message()));
  const bool afresh = epoch == 1 && step == 0;
  keep_epochs_before(epoch);
  keep_steps_until(epoch, step);
  keep_bad_files(!afresh);
  begin_utilisation();
  write_json(path("config.json"), config_);
  write_epochs();
}

void RunFilesObserver::on_step(const StepRecord& step) {
  if (!steps_) return;
  append(step_lines_, path("steps.jsonl"), step_line(step));
  append_utilisation(utilisation_.add(
      {step.epoch, step.times.data_wait_s, step.begin_s, step.begin_s + step.times.compute_s}));
}

void RunFilesObserver::on_epoch(const EpochReport& report) {
  append_utilisation(utilisation_.finish());
  epochs_.push_back(epoch_record(report));
  write_epochs();
}

void RunFilesObserver::on_bad_file(const std::string& file, const std::string& why) {
  const std::string line = file + "\t" + why + "\n";
  if (!bad_files_.insert(line).second) return;
  std::ofstream lines;
  append(lines, path("bad_files.txt"), line);
}

void RunFilesObserver::on_trace(const Trace& trace) {
  write_trace(trace_ == "auto" ? path("trace.json") : trace_, {&trace});
}

void RunFilesObserver::begin_utilisation() {
  utilisation_ = {};
  utilisation_rows_.close();
  const std::string name = path("utilisation.csv");
  std::error_code failure;
  fs::remove(name, failure);
  if (failure) throw Error(fmt::format("{}: can't be removed: {}.", name, failure.message()));
  if (steps_) append(utilisation_rows_, name, kUtilisationHeader);
}

void RunFilesObserver::append_utilisation(const std::vector<UtilisationBin>& bins) {
  if (!bins.empty()) append(utilisation_rows_, path("utilisation.csv"), utilisation_rows(bins));
}

void RunFilesObserver::keep_epochs_before(int64_t epoch) {
  epochs_ = Json::array();
  if (epoch == 1 || !fs::exists(path("report.json"))) return;
  for (const Json& record : read_run_report(path("report.json"))) {
    if (record.at("epoch").get<int64_t>() < epoch) epochs_.push_back(record);
  }
}

void RunFilesObserver::keep_steps_until(int64_t epoch, int64_t step) {
  step_lines_.close();
  const std::string steps = path("steps.jsonl");
  if (!fs::exists(steps)) return;
  std::error_code failure;
  if (epoch == 1 && step == 0) {
    fs::remove(steps, failure);
  } else {
    fs::resize_file(steps, length_until(steps, epoch, step), failure);
  }
  if (failure) throw Error(fmt::format("{}: can't be cut back: {}.", steps, failure.message()));
}

void RunFilesObserver::keep_bad_files(bool keep) {
  bad_files_.clear();
  const std::string name = path("bad_files.txt");
  std::error_code failure;
  if (!keep) fs::remove(name, failure);
  if (failure) throw Error(fmt::format("{}: can't be removed: {}.", name, failure.message()));
  std::ifstream file(name, std::ios::binary);
  for (std::string line; std::getline(file, line);) bad_files_.insert(line + "\n");
}

void RunFilesObserver::write_epochs() const {
  write_file_atomically(path("epochs.csv"), epochs_csv(epochs_));
  write_json(path("report.json"), {{"version", version()}, {"config", config_}, {"epochs", epochs_}});
}

}  // namespace slipstream
