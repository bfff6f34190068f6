#include "app/folder_bytes.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace slipstream {
namespace fs = std::filesystem;

int64_t estimated_bytes(const ImageFolder& folder) {
  constexpr size_t kLooks = 1000;
  const size_t files = folder.samples.size();
  const size_t looks = std::min(files, kLooks);
  double bytes = 0;
  for (size_t i = 0; i < looks; ++i) {
    std::error_code failure;
    const auto size = fs::file_size(folder.path_of(i * files / looks), failure);
    if (!failure) bytes += static_cast<double>(size);
  }
  return looks == 0 ? 0
                    : static_cast<int64_t>(bytes * static_cast<double>(files) / static_cast<double>(looks));
}

}  // namespace slipstream
