#include "app/images_folder.h"

#include <fmt/format.h>

#include <filesystem>

#include "data/error.h"

namespace slipstream {
namespace fs = std::filesystem;

std::string images_folder(const std::string& data, const std::string& part) {
  if (data.empty()) {
    throw UsageError(
        fmt::format("--data is missing: name a folder of images, a folder a class, or one with {}/.", part));
  }
  if (!fs::exists(data)) throw UsageError(fmt::format("--data {}: no such folder.", data));
  const fs::path inside = fs::path(data) / part;
  return fs::exists(inside) ? inside.string() : data;
}

}  // namespace slipstream
