#include "app/compare_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "app/run_report.h"
#include "app/utilisation.h"
#include "data/error.h"

namespace slipstream {
namespace {

std::optional<double> number(const Json& record, const char* key) {
  const Json& value = record.at(key);
  return value.is_null() ? std::nullopt : std::optional(value.get<double>());
}

void add(RunFigures& figures, const std::vector<UtilisationBin>& bins) {
  for (const UtilisationBin& bin : bins) {
    figures.watched_s += bin.width_s;
    figures.busy_s += bin.busy * bin.width_s;
    if (bin.busy < 0.5) figures.dip_s += bin.width_s;
  }
}

void read_epochs(RunFigures& figures, const Json& epochs, int64_t first) {
  for (const Json& epoch : epochs) {
    if (epoch.at("epoch").get<int64_t>() < first) continue;
    figures.epochs.push_back({epoch.at("wall_s").get<double>(), epoch.at("images_per_s").get<double>(),
                              epoch.at("data_wait_s").get<double>(), number(epoch, "hidden_share")});
  }
}

void read_steps(RunFigures& figures, const std::string& path, int64_t first) {
  std::ifstream file(path, std::ios::binary);
  Utilisation utilisation;
  for (std::string line; std::getline(file, line);) {
    const Json step = Json::parse(line);
    const auto epoch = step.at("epoch").get<int64_t>();
    figures.losses.push_back({epoch, step.at("step").get<int64_t>(), number(step, "loss")});
    if (epoch < first) continue;
    const auto begin_s = step.at("begin_s").get<double>();
    add(figures, utilisation.add({epoch, step.at("data_wait_s").get<double>(), begin_s,
                                  begin_s + step.at("compute_s").get<double>()}));
  }
  add(figures, utilisation.finish());
}

}  // namespace

RunFigures read_run_figures(const std::string& folder) {
  const std::string report = folder + "/report.json", steps = folder + "/steps.jsonl";
  const Json epochs = read_run_report(report);
  if (epochs.empty()) throw Error(fmt::format("{}: no epoch has ended.", report));
  const int64_t first = epochs.size() > 1 ? 2 : 1;
  RunFigures figures;
  try {
    read_epochs(figures, epochs, first);
    read_steps(figures, steps, first);
  } catch (const Json::exception& error) {
    throw Error(
        fmt::format("{}: its report.json or steps.jsonl isn't what train writes: {}", folder, error.what()));
  }
  if (figures.losses.empty()) throw Error(fmt::format("{}: can't be read, or is empty.", steps));
  return figures;
}

Spread spread_of(std::vector<double> values) {
  std::ranges::sort(values);
  const size_t half = values.size() / 2;
  const double median = values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
  return {median, values.front(), values.back()};
}

}  // namespace slipstream
