#pragma once

#include <string>

namespace slipstream {

/// What --device names, for people: "NVIDIA H200", "CPU, 16 cores".
std::string device_name(const std::string& option);

}  // namespace slipstream
