#pragma once

#include <vector>

namespace slipstream {

/// By nearest rank: the smallest of `values` that `percent` of them, at least, don't exceed. `values` isn't
/// empty; `percent` is 1 to 100.
double percentile(std::vector<double> values, int percent);

}  // namespace slipstream
