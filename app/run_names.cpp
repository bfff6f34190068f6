#include "app/run_names.h"

#include <algorithm>
#include <filesystem>

namespace slipstream {

std::vector<std::string> run_names(const std::vector<std::string>& folders) {
  std::vector<std::string> names;
  for (const std::string& folder : folders) {
    std::filesystem::path path = std::filesystem::path(folder).lexically_normal();
    if (!path.has_filename()) path = path.parent_path();
    const std::string name = path.filename().string();
    if (name.empty() || name == "." || std::count(names.begin(), names.end(), name) > 0) return folders;
    names.push_back(name);
  }
  return names;
}

}  // namespace slipstream
