#include "app/json_output.h"

#include <fmt/format.h>

#include <filesystem>
#include <iostream>

#include "app/json_file.h"
#include "data/error.h"

namespace slipstream {
namespace fs = std::filesystem;

void JsonOutput::add_to(OptionTable& table) {
  table.text("json", file_, "FILE", "Write the figures as JSON, too; -: to the standard output, alone.");
}

void JsonOutput::require_place(const std::string& coming) const {
  if (alone()) return;
  if (fs::is_directory(file_)) throw UsageError(fmt::format("--json {}: is a folder; name a file.", file_));
  const std::string folder = fs::path(file_).parent_path().string();
  if (folder.empty() || folder == coming || fs::is_directory(folder)) return;
  throw UsageError(fmt::format("--json {}: there is no folder {}.", file_, folder));
}

void JsonOutput::write(const Json& figures) const {
  if (alone()) {
    std::cout << json_text(figures);
  } else if (!file_.empty()) {
    write_json(file_, figures);
  }
}

}  // namespace slipstream
