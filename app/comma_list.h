#pragma once

#include <string>
#include <vector>

namespace slipstream {

/// What stands between the commas of "64,128"; of an empty text: one empty part.
std::vector<std::string> comma_parts(const std::string& list);

}  // namespace slipstream
