#include "app/scratch_folder.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "data/error.h"

namespace slipstream {
namespace fs = std::filesystem;

ScratchFolder::ScratchFolder(const std::string& beside) : path_(beside + ".XXXXXX") {
  const fs::path above = fs::path(beside).parent_path();
  std::error_code failure;
  if (!above.empty()) fs::create_directories(above, failure);
  if (failure) throw Error(fmt::format("{}: can't be made a folder: {}.", above.string(), failure.message()));
  if (::mkdtemp(path_.data()) == nullptr) {
    throw Error(fmt::format("{}: no folder can be made beside it: {}.", beside,
                            std::generic_category().message(errno)));
  }
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;  // what is left behind harms nothing
  fs::remove_all(path_, ignored);
}

}  // namespace slipstream
