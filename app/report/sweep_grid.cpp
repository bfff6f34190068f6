#include "app/report/sweep_grid.h"

#include <algorithm>

namespace slipstream {
namespace {

Json value_in(const SweepResult& result, const std::string& key) {
  return result.config.contains(key) ? result.config.at(key) : Json();
}

std::vector<Json> values_of(const ReportSweep& sweep, const std::string& key) {
  std::vector<Json> values;
  for (const SweepResult& result : sweep.results) {
    const Json value = value_in(result, key);
    if (std::ranges::find(values, value) == values.end()) values.push_back(value);
  }
  if (std::ranges::all_of(values, [](const Json& value) { return value.is_number(); })) {
    std::sort(values.begin(), values.end());
  }
  return values;
}

}  // namespace

size_t GridOption::place_of(const Json& value) const {
  return static_cast<size_t>(std::find(values.begin(), values.end(), value) - values.begin());
}

std::vector<GridOption> grid_options(const ReportSweep& sweep) {
  std::vector<GridOption> options;
  for (const std::string& key : sweep.differing) {
    if (key == "seed" && sweep.differing.size() > 1) continue;
    options.push_back({key, values_of(sweep, key)});
  }
  return options;
}

std::optional<double> mean_figure(const ReportSweep& sweep, const Figure& figure,
                                  const std::pair<std::string, Json>& one,
                                  const std::pair<std::string, Json>& other) {
  double sum = 0;
  int64_t count = 0;
  for (const SweepResult& result : sweep.results) {
    const bool meant = result.status == RunStatus::kDone && value_in(result, one.first) == one.second &&
                       value_in(result, other.first) == other.second;
    const Json value = meant ? figure_value(figure, &result) : Json();
    if (value.is_null()) continue;
    sum += value.get<double>();
    ++count;
  }
  return count == 0 ? std::nullopt : std::optional(sum / static_cast<double>(count));
}

}  // namespace slipstream
