#pragma once

#include <string>
#include <vector>

#include "app/json.h"

namespace slipstream {

/// A run's name and one of its epochs, as in report.json.
struct ComparedRun {
  std::string name;
  Json epoch;
};

/// The epochs side by side: a column a run, a row a key of report.json in units for people, "-" for null;
/// then each run's bottleneck sentence.
std::string compare_table(const std::vector<ComparedRun>& runs);

}  // namespace slipstream
