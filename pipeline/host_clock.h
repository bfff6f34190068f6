#pragma once

#include <chrono>

namespace slipstream {

/// Seconds of the host's steady clock, from its own origin.
inline double host_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace slipstream
