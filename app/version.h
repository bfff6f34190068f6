#pragma once

#include <string>

namespace slipstream {

std::string version();        ///< "0.1.0"
std::string build_variant();  ///< "cpu" or "cuda"

}  // namespace slipstream
