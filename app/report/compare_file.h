#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace slipstream {

/// A figure over a compare's rounds.
struct RoundsRange {
  double median = 0, low = 0, high = 0;
};

/// A way to train, over all rounds. Figures that a row hasn't got are empty.
struct ReportCompareRow {
  std::string name;
  std::vector<std::string> runs;  ///< their folders within the compare's; at least one
  std::optional<RoundsRange> epoch_s, images_per_s;
  std::optional<double> speedup, data_wait_share, hidden_share, gpu_busy, gpu_dips, ceiling_share;
  std::optional<bool> losses_agree;
};

/// A compare's compare.json.
struct CompareFile {
  std::string device, command, sentence;
  int64_t rounds = 0;
  bool losses_agree = false;
  std::vector<ReportCompareRow> rows;
};

/// Throws UsageError naming the file, line and key of what is missing or of another type.
CompareFile read_compare_file(const std::string& file);

}  // namespace slipstream
