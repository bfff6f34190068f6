#pragma once

#include <string>
#include <vector>

namespace slipstream {

/// Which share of a short time from `time_s` on the compute stream had a step under way.
struct BusyBin {
  double time_s = 0;
  double busy = 0;  ///< 0 to 1
};

/// The rows of a run's utilisation.csv (time_s,busy), in time's order; none if there is no such file. Throws
/// UsageError naming the line that is none.
std::vector<BusyBin> read_utilisation(const std::string& file);

}  // namespace slipstream
