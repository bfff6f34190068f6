#pragma once

#include <array>
#include <string>
#include <string_view>

#include "app/json.h"
#include "app/sweep_results.h"

namespace slipstream {

/// What a sweep's table says of a run's last epoch. Accuracy and loss are the validation's, or where there is
/// none the training's.
struct Figure {
  std::string_view key;  ///< in results.csv and for --sort
  std::string_view title;
  bool more_is_better = false;
  Json (*value)(const Json& epoch) = nullptr;  ///< null if the epoch lacks it
  std::string (*text)(double value) = nullptr;
};

extern const std::array<Figure, 4> kFigures;

const Figure* find_figure(std::string_view key);

/// Null where the run has no result, no epoch or no such figure.
Json figure_value(const Figure& figure, const SweepResult* result);
std::string figure_cell(const Figure& figure, const SweepResult* result);  ///< "-" for null

}  // namespace slipstream
