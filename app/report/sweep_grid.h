#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/report/input.h"
#include "app/sweep_figures.h"

namespace slipstream {

/// An option of a sweep with the values that it takes there, numbers ascending and all else in their order.
struct GridOption {
  std::string key;
  std::vector<Json> values;

  size_t place_of(const Json& value) const;
};

/// The options that span a sweep's grid: those that differ, but for the seed where something else does, too,
/// since then it tells repetitions apart.
std::vector<GridOption> grid_options(const ReportSweep& sweep);

/// The mean of a figure over the runs, repetitions as a rule, in which the two options have these values;
/// none where no such run got done.
std::optional<double> mean_figure(const ReportSweep& sweep, const Figure& figure,
                                  const std::pair<std::string, Json>& one,
                                  const std::pair<std::string, Json>& other);

}  // namespace slipstream
