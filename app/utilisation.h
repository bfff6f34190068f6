#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace slipstream {

/// When a training step was under way on the compute stream.
struct BusySpan {
  int64_t epoch = 0;
  double idle_s = 0;  ///< before it, for want of its batch
  double begin_s = 0, end_s = 0;
};

/// A stretch of time, and the share of it in which a step was under way.
struct UtilisationBin {
  double begin_s = 0, width_s = 0;
  double busy = 0;
};

/// Turns steps into bins of 20 ms: fine enough to show single waits for data, and a minute is 3,000 rows.
/// Each epoch's bins count from its beginning, so what passes between epochs, validation for one, is in none.
class Utilisation {
 public:
  static constexpr double kWidth = 0.02;  ///< seconds; an epoch's last bin may be shorter

  /// The next step; returns the bins that are over by now.
  std::vector<UtilisationBin> add(const BusySpan& step);
  /// The rest of the last epoch.
  std::vector<UtilisationBin> finish();

 private:
  std::optional<int64_t> epoch_;
  double bin_s_ = 0;   // begin of the bin under way
  double busy_s_ = 0;  // in it
  double end_s_ = 0;   // of the last step
};

/// Rows of utilisation.csv: "time_s,busy", the time being that of the bin's beginning.
inline constexpr const char* kUtilisationHeader = "time_s,busy\n";
std::string utilisation_rows(const std::vector<UtilisationBin>& bins);

}  // namespace slipstream
