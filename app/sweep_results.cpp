#include "app/sweep_results.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "data/error.h"
#include "data/file_io.h"

namespace slipstream {
namespace {

constexpr std::array<std::pair<RunStatus, const char*>, 4> kStatuses = {{
    {RunStatus::kDone, "done"},
    {RunStatus::kFailed, "failed"},
    {RunStatus::kTimedOut, "timed out"},
    {RunStatus::kKilled, "out of memory"},
}};

RunStatus status_named(const std::string& name) {
  for (const auto& [status, text] : kStatuses) {
    if (name == text) return status;
  }
  throw Error(fmt::format("no status is named '{}'", name));
}

/// Keys in one order, whatever theirs: files are edited by people.
std::string identity(const Json& config) { return nlohmann::json(config).dump(); }

[[noreturn]] void fail(const std::string& file) {
  throw Error(fmt::format("Can't write {}: {}.", file, std::generic_category().message(errno)));
}

}  // namespace

std::string status_name(RunStatus status) {
  const auto has_status = [status](const auto& entry) { return entry.first == status; };
  return std::find_if(kStatuses.begin(), kStatuses.end(), has_status)->second;
}

Json result_record(const SweepResult& result) {
  return {{"name", result.name},   {"status", status_name(result.status)},
          {"error", result.error}, {"run_s", result.run_s},
          {"epoch", result.epoch}, {"config", result.config}};
}

SweepResult result_of(const Json& record) {
  return {.name = record.at("name").get<std::string>(),
          .config = record.at("config"),
          .status = status_named(record.at("status").get<std::string>()),
          .error = record.at("error").get<std::string>(),
          .run_s = record.at("run_s").get<double>(),
          .epoch = record.at("epoch")};
}

SweepResults::SweepResults(std::string file) : file_(std::move(file)) {
  if (std::filesystem::exists(file_)) read();
}

void SweepResults::read() {
  std::vector<uint8_t> bytes;
  read_file(file_, bytes);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  size_t begin = 0;
  for (int number = 1; begin < text.size(); ++number) {
    const size_t end = text.find('\n', begin);
    if (end == std::string_view::npos) break;
    try {
      SweepResult result = result_of(Json::parse(text.substr(begin, end - begin)));
      by_config_[identity(result.config)] = std::move(result);
    } catch (const std::exception& error) {
      throw Error(
          fmt::format("{}:{}: not a result of a sweep; remove the line to have its run done again. {}", file_,
                      number, error.what()));
    }
    begin = end + 1;
  }
  whole_bytes_ = static_cast<int64_t>(begin);
}

const SweepResult* SweepResults::find(const Json& config) const {
  const auto found = by_config_.find(identity(config));
  return found == by_config_.end() ? nullptr : &found->second;
}

void SweepResults::open() {
  appended_ = UniqueFd(::open(file_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  if (!appended_.valid() || ::ftruncate(appended_.get(), whole_bytes_) != 0) fail(file_);
}

void SweepResults::add(const SweepResult& result) {
  if (!appended_.valid()) open();
  const std::string line = result_record(result).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  if (!write_all(appended_.get(), line) || ::fsync(appended_.get()) != 0) fail(file_);
  by_config_[identity(result.config)] = result;
}

}  // namespace slipstream
