#include "app/sweep_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

#include "app/run_report.h"
#include "app/units.h"
#include "data/error.h"

namespace slipstream {
namespace fs = std::filesystem;
namespace {

ChildCommand command(const std::string& folder, bool resumes, const std::string& gpu,
                     const RunSettings& settings) {
  ChildCommand child;
  child.arguments = {settings.executable, "train", "--config", folder + "/config.json"};
  if (resumes) child.arguments.emplace_back("--resume");
  if (!gpu.empty()) child.environment.emplace_back("CUDA_VISIBLE_DEVICES", gpu);
  if (settings.threads > 0) {
    child.environment.emplace_back("OMP_NUM_THREADS", fmt::format("{}", settings.threads));
  }
  child.output = folder + "/output.txt";
  child.errors = folder + "/errors.txt";
  child.keeps_open = settings.lock;
  return child;
}

/// The end of a file, from the begin of a line where the last kilobyte has one.
std::string last_words(const std::string& path) {
  constexpr std::streamoff kMost = 1000;
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const std::streamoff size = file.tellg();
  if (size <= 0) return {};
  std::string text(static_cast<size_t>(std::min(size, kMost)), '\0');
  file.seekg(-static_cast<std::streamoff>(text.size()), std::ios::end);
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.pop_back();
  const size_t line = size > kMost ? text.find('\n') : std::string::npos;
  return line == std::string::npos ? text : text.substr(line + 1);
}

Json last_epoch(const std::string& folder) {
  const std::string report = folder + "/report.json";
  if (!fs::exists(report)) return {};
  const Json epochs = read_run_report(report);
  return epochs.empty() ? Json() : epochs.back();
}

}  // namespace

SweepRun::SweepRun(const PlannedRun& run, const SweepFolder& folder, bool anew, const std::string& gpu,
                   const RunSettings& settings, double now)
    : run_(run),
      settings_(settings),
      folder_(folder.run_folder(run)),
      resumed_(folder.prepare(run, anew)),
      start_s_(now),
      process_(command(folder_, resumed_, gpu, settings)) {}

bool SweepRun::has_ended(double now) {
  if (end_) return true;
  end_ = process_.poll();
  if (end_) {
    end_s_ = now;
    return true;
  }
  if (!asked_s_ && settings_.timeout_s > 0 && now - start_s_ >= settings_.timeout_s) {
    timed_out_ = true;
    ask_to_end(now);
  }
  if (asked_s_ && !killed_ && now - *asked_s_ >= settings_.grace_s) {
    killed_ = true;
    process_.signal(SIGKILL);
  }
  return false;
}

void SweepRun::stop(double now) {
  stopped_ = true;
  ask_to_end(now);
}

void SweepRun::ask_to_end(double now) {
  if (asked_s_) return;
  asked_s_ = now;
  process_.signal(SIGTERM);
}

RunStatus SweepRun::status() const {
  if (end_->exit_code == 0) return RunStatus::kDone;
  if (timed_out_) return RunStatus::kTimedOut;
  const bool by_sigkill = end_->signal == SIGKILL || end_->exit_code == 128 + SIGKILL;
  return by_sigkill ? RunStatus::kKilled : RunStatus::kFailed;
}

std::string SweepRun::error() const {
  if (status() == RunStatus::kTimedOut) {
    return fmt::format("It took more than {}.", seconds_text(settings_.timeout_s));
  }
  if (status() == RunStatus::kKilled) return "It got SIGKILL: as a rule, because memory was full.";
  std::string words = last_words(folder_ + "/errors.txt");
  if (end_->signal != 0) {
    words += fmt::format("{}Ended by signal {} ({}).", words.empty() ? "" : "\n", end_->signal,
                         strsignal(end_->signal));
  }
  return words.empty() ? fmt::format("Ended with exit code {}.", end_->exit_code) : words;
}

std::optional<SweepResult> SweepRun::result() const {
  const bool obeyed = end_->signal == SIGTERM || end_->exit_code == 128 + SIGTERM || killed_;
  if (stopped_ && !timed_out_ && obeyed) return std::nullopt;
  SweepResult result{.name = run_.name, .config = run_.config, .status = status()};
  result.run_s = end_s_ - start_s_;
  result.epoch = last_epoch(folder_);
  if (result.status != RunStatus::kDone) result.error = error();
  return result;
}

int64_t SweepRun::epochs_done() const {
  std::ifstream rows(folder_ + "/epochs.csv");
  int64_t lines = 0;
  for (std::string line; std::getline(rows, line);) ++lines;
  return std::max<int64_t>(0, lines - 1);
}

double SweepRun::share_done() const {
  const auto epochs = run_.config.at("epochs").get<double>();
  return std::min(1.0, static_cast<double>(epochs_done()) / epochs);
}

}  // namespace slipstream
