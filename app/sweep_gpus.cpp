#include "app/sweep_gpus.h"

#include <fmt/format.h>

#include <charconv>

#include "app/comma_list.h"
#include "data/error.h"

namespace slipstream {
namespace {

int number_of(const std::string& part, const std::string& list, int count) {
  int number = -1;
  const char* end = part.data() + part.size();
  const auto [stop, error] = std::from_chars(part.data(), end, number);
  if (error != std::errc() || stop != end || number < 0 || number >= count) {
    throw UsageError(fmt::format("--gpus {}: '{}' is no GPU of this machine; they count from 0 to {}.", list,
                                 part, count - 1));
  }
  return number;
}

}  // namespace

std::vector<std::string> gpus_to_use(const std::string& list, const char* visible, int count) {
  if (!list.empty() && count <= 0) {
    throw UsageError(count < 0
                         ? "--gpus: this build has no CUDA; build the preset 'cuda' (./quickstart.sh --cuda)."
                         : "--gpus: this machine has no GPU; 'slipstream doctor' says more.");
  }
  // The names that this process may use; CUDA counts the visible ones from 0.
  std::vector<std::string> names;
  if (visible != nullptr && *visible != '\0') names = comma_parts(visible);
  for (int i = static_cast<int>(names.size()); i < count && visible == nullptr; ++i) {
    names.push_back(fmt::format("{}", i));
  }
  names.resize(static_cast<size_t>(count < 0 ? 0 : count));
  if (list.empty()) return names;
  std::vector<std::string> used;
  for (const std::string& part : comma_parts(list))
    used.push_back(names[static_cast<size_t>(number_of(part, list, count))]);
  return used;
}

}  // namespace slipstream
