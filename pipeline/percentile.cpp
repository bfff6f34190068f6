#include "pipeline/percentile.h"

#include <algorithm>
#include <cstddef>

namespace slipstream {

double percentile(std::vector<double> values, int percent) {
  const size_t rank = (values.size() * static_cast<size_t>(percent) + 99) / 100;
  const auto found = values.begin() + static_cast<std::ptrdiff_t>(rank) - 1;
  std::ranges::nth_element(values, found);
  return *found;
}

}  // namespace slipstream
