#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace slipstream {

/// What compare takes from one run's folder. Times and shares are of the epochs that count.
struct RunFigures {
  struct Epoch {
    double wall_s = 0, images_per_s = 0, data_wait_s = 0;
    std::optional<double> hidden_share;
  };
  /// A step's loss as steps.jsonl has it; empty if it was no finite number.
  struct Loss {
    int64_t epoch = 0, step = 0;
    std::optional<double> value;
    bool operator==(const Loss&) const = default;
  };

  std::vector<Epoch> epochs;
  std::vector<Loss> losses;  ///< of all steps, of the first epoch's too
  // Of the bins of utilisation.h.
  double watched_s = 0;
  double busy_s = 0;  ///< in which a step was under way
  double dip_s = 0;   ///< in bins in which one was for less than half of the time
};

/// Reads report.json and steps.jsonl. The first epoch, which warms up, counts only if it is the only one.
/// Throws Error naming the file if it holds no epoch or isn't what `train` writes.
RunFigures read_run_figures(const std::string& folder);

/// Median, least and most.
struct Spread {
  double median = 0, min = 0, max = 0;
};
Spread spread_of(std::vector<double> values);  ///< of at least one; the median of an even number is a mean

}  // namespace slipstream
