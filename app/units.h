#pragma once

#include <cstdint>
#include <string>

namespace slipstream {

/// Numbers as people read them.
std::string rounded(double value);         ///< "6,104", "12.3" or "0.123": three digits or the whole number
std::string share_text(double share);      ///< 0.973 -> "97.3%"
std::string seconds_text(double seconds);  ///< "0.123 s", "14.2 s", "12 min 5 s", "3 h 20 min", "2 d 4 h"
std::string bytes_text(int64_t bytes);     ///< "109 kB", "12.3 GB"
std::string megahertz_text(double mhz);    ///< "1,842 MHz"
std::string watts_text(double watts);      ///< "698 W"

}  // namespace slipstream
