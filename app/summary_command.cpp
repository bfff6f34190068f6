#include "app/summary_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "app/compare_table.h"
#include "app/option_table.h"
#include "app/run_names.h"
#include "app/run_report.h"
#include "data/error.h"

namespace slipstream {
namespace {

struct SummaryLine {
  SummaryLine() {
    table.group("Options");
    table.integer("epoch", epoch, 0, INT64_MAX, "Which epoch of each run to show; 0: its last.");
  }

  std::vector<std::string> folders;
  int64_t epoch = 0;
  OptionTable table;
};

Json epoch_of(const std::string& folder, int64_t epoch) {
  const std::string path = folder + "/report.json";
  const Json epochs = read_run_report(path);
  if (epochs.empty()) throw Error(fmt::format("{}: no epoch has ended yet.", path));
  if (epoch == 0) return epochs.back();
  for (const Json& record : epochs) {
    if (record.at("epoch") == epoch) return record;
  }
  throw Error(fmt::format("{}: there is no epoch {}.", path, epoch));
}

int run(SummaryLine& line) {
  line.table.read_flags();
  const std::vector<std::string> names = run_names(line.folders);
  std::vector<ComparedRun> runs;
  for (size_t at = 0; at < names.size(); ++at)
    runs.push_back({names[at], epoch_of(line.folders[at], line.epoch)});
  fmt::print("{}", compare_table(runs));
  return 0;
}

}  // namespace

Command add_summary_command(CLI::App& app) {
  const auto line = std::make_shared<SummaryLine>();
  CLI::App* command = add_command(app, "summary", "Print the epoch reports of runs side by side.");
  command->add_option("DIR", line->folders, "Folders of runs, as --out named them.")->required();
  line->table.add_flags(*command);
  return {command, [line] { return run(*line); }};
}

}  // namespace slipstream
