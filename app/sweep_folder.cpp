#include "app/sweep_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <thread>

#include "app/json_file.h"
#include "app/option_table.h"
#include "data/error.h"

namespace slipstream {
namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
namespace {

/// What is left of a file that write_file_atomically was killed at.
bool is_partial(const fs::path& file) { return file.extension() == ".partial"; }

void remove_partials_in(const fs::path& folder) {
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (is_partial(entry.path())) fs::remove(entry.path());
  }
}

bool has_files(const fs::path& folder) {
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (!is_partial(entry.path())) return true;
  }
  return false;
}

/// The options of the run whose folder this is, as PlannedRun has them.
Json config_in(const std::string& folder) {
  return without_own_keys(read_json_object(folder + "/config.json"));
}

/// "lr 0.1 instead of 0.2", of the first option that isn't the same.
std::string difference(const Json& there, const Json& wanted) {
  for (const auto& [key, value] : wanted.items()) {
    if (!there.contains(key)) return fmt::format("no {}", key);
    if (there.at(key) != value) {
      return fmt::format("{} {} instead of {}", key, option_text(there.at(key)), option_text(value));
    }
  }
  return "options that this build doesn't know";
}

/// All but config.json, which goes last: until it is replaced it says whose folder this is.
void empty_folder(const std::string& folder) {
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.path().filename() != "config.json") fs::remove_all(entry.path());
  }
}

}  // namespace

UniqueFd SweepFolder::lock(double patience_s) const {
  std::error_code failure;
  fs::create_directories(path_ + "/runs", failure);
  if (failure) throw Error(fmt::format("{}: can't be made a folder: {}.", path_, failure.message()));
  const std::string name = this->file("lock");
  UniqueFd file(::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  const auto give_up = Clock::now() + std::chrono::duration<double>(patience_s);
  while (!file.valid() || ::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (!file.valid() || (errno != EWOULDBLOCK && errno != EINTR)) {
      throw Error(fmt::format("{}: can't be locked: {}.", name, std::generic_category().message(errno)));
    }
    if (Clock::now() >= give_up) {
      throw Error(
          fmt::format("{}: another sweep works there; wait for its end, or name another --out.", path_));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return file;
}

void SweepFolder::require_free(const SweepPlan& plan) const {
  for (const PlannedRun& run : plan.runs) {
    const std::string folder = run_folder(run);
    if (!fs::exists(folder) || !has_files(folder)) continue;
    if (!fs::exists(folder + "/config.json")) {
      throw UsageError(fmt::format("{}: holds files that are no run's; name another --out.", folder));
    }
    const Json there = config_in(folder);
    if (there == run.config) continue;
    throw UsageError(
        fmt::format("{}: holds another run, with {}; name another --out, or have the names tell "
                    "them apart.",
                    folder, difference(there, run.config)));
  }
}

void SweepFolder::remove_partials() const { remove_partials_in(path_); }

bool SweepFolder::prepare(const PlannedRun& run, bool anew) const {
  const std::string folder = run_folder(run);
  fs::create_directories(folder);
  remove_partials_in(folder);
  const bool resumes = !anew && fs::exists(folder + "/checkpoint.pt");
  if (!resumes) empty_folder(folder);
  Json config = run.config;
  config["out"] = folder;
  write_json(folder + "/config.json", config);
  return resumes;
}

}  // namespace slipstream
