#include "app/batch_sizes.h"

#include <fmt/format.h>

#include <charconv>
#include <set>

#include "app/comma_list.h"
#include "data/error.h"

namespace slipstream {
namespace {

constexpr int64_t kMost = 65536;  // as --batch-size

int64_t size_of(const std::string& part) {
  int64_t size = 0;
  const char* end = part.data() + part.size();
  const auto [stop, error] = std::from_chars(part.data(), end, size);
  if (error == std::errc() && stop == end && size >= 1 && size <= kMost) return size;
  throw UsageError(fmt::format(
      "--batch-sizes takes whole numbers from 1 to {} with commas between, as 64,128,256, not '{}'.", kMost,
      part));
}

}  // namespace

std::vector<int64_t> listed_batch_sizes(const std::string& list, int64_t images) {
  std::set<int64_t> sizes;
  if (list.empty()) return {};
  for (const std::string& part : comma_parts(list)) sizes.insert(size_of(part));
  require_images_for("--batch-sizes", *sizes.rbegin(), images);
  return {sizes.begin(), sizes.end()};
}

void require_images_for(const std::string& flag, int64_t size, int64_t images) {
  if (size <= images) return;
  throw UsageError(
      fmt::format("{}: {} is more than the {} images that there are to train on.", flag, size, images));
}

}  // namespace slipstream
