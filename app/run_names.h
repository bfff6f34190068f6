#pragma once

#include <string>
#include <vector>

namespace slipstream {

/// Names for folders, in their order: their last parts; the whole paths where those are not all different.
std::vector<std::string> run_names(const std::vector<std::string>& folders);

}  // namespace slipstream
