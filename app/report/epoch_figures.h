#pragma once

#include <optional>
#include <string>

#include "app/json.h"

namespace slipstream {

/// A number of an epoch in report.json; none where it is null or not there.
std::optional<double> epoch_figure(const Json& epoch, const char* key);
/// A text of it; empty where it is none.
std::string epoch_text_of(const Json& epoch, const char* key);
/// The number of the last epoch; none where no epoch has ended.
std::optional<double> last_epoch_figure(const Json& epochs, const char* key);

/// Where an epoch's time went: wall = compute + exposed + other, but for what clocks differ by.
struct EpochParts {
  double wall_s = 0;
  std::optional<double> compute_s, exposed_s;  ///< none where times were not measured
  double other_s = 0;                          ///< all of it where they were not
};
std::optional<EpochParts> epoch_parts(const Json& epoch);

}  // namespace slipstream
