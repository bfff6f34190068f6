#include "models/conv_choices.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "data/error.h"
#include "data/file_io.h"

namespace slipstream {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

/// Of the file, and of how choices are made: raised where old ones are no longer the best.
constexpr int kFormat = 3;

fs::path cache_folder() {
  const auto of = [](const char* variable) {
    const char* const value = std::getenv(variable);
    return fs::path(value != nullptr ? value : "");
  };
  if (fs::path own = of("SLIPSTREAM_CACHE"); !own.empty()) return own;
  if (const fs::path caches = of("XDG_CACHE_HOME"); !caches.empty()) return caches / "slipstream";
  if (const fs::path home = of("HOME"); !home.empty()) return home / ".cache" / "slipstream";
  return {};
}

}  // namespace

ConvChoices::ConvChoices(std::string path) : path_(std::move(path)) { read(); }

std::optional<ConvChoices::Choice> ConvChoices::find(const std::string& problem) const {
  const auto found = choices_.find(problem);
  return found == choices_.end() ? std::nullopt : std::optional(found->second);
}

void ConvChoices::add(const std::string& problem, const Choice& choice) {
  read();
  choices_[problem] = choice;
  if (path_.empty()) return;
  Json all = Json::object();
  for (const auto& [name, chosen] : choices_) all[name] = {{"engine", chosen.engine}, {"ms", chosen.ms}};
  try {
    write_file_atomically(path_, all.dump(1) + "\n");
  } catch (const Error&) {  // a folder that is full or read-only: the next run tries again
  }
}

void ConvChoices::read() {
  if (path_.empty()) return;
  std::vector<unsigned char> bytes;
  try {
    read_file(path_, bytes);
  } catch (const Error&) {
    return;
  }
  const Json all = Json::parse(bytes, nullptr, /*allow_exceptions=*/false);
  if (!all.is_object()) return;
  for (const auto& [problem, choice] : all.items()) {
    if (!choice.is_object() || !choice.contains("engine") || !choice.contains("ms")) continue;
    if (!choice["engine"].is_string() || !choice["ms"].is_number()) continue;
    choices_[problem] = {choice["engine"].get<std::string>(), choice["ms"].get<double>()};
  }
}

std::string conv_choices_path(const std::string& gpu, int64_t cudnn_version) {
  const fs::path folder = cache_folder();
  std::error_code error;
  if (folder.empty() || (fs::create_directories(folder, error), error)) return {};
  std::string device = gpu;
  std::ranges::replace_if(
      device, [](unsigned char c) { return std::isalnum(c) == 0; }, '-');
  return (folder / fmt::format("convolutions-v{}-{}-cudnn-{}.json", kFormat, device, cudnn_version)).string();
}

}  // namespace slipstream
