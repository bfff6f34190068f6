#include "app/train_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <string>

#include "app/console_observer.h"
#include "app/json_file.h"
#include "app/observers.h"
#include "app/run_files_observer.h"
#include "app/train_options_table.h"
#include "data/error.h"
#include "pipeline/trainer.h"

namespace slipstream {
namespace {

struct TrainLine {
  TrainOptions options;
  OptionTable table = train_options_table(options);
  std::string config;
  bool print_config = false;
};

void require_data(const TrainOptions& options) {
  if (options.data.empty() && options.train_dir.empty() && !options.synthetic) {
    throw UsageError("--data is missing: name the folder that holds train/ and val/.");
  }
}

int run(TrainLine& line) {
  if (!line.config.empty()) line.table.read_file(line.config);
  line.table.read_flags();
  if (line.print_config) {
    std::cout << json_text(line.table.json());
    return 0;
  }
  require_data(line.options);

  RunFilesObserver files(line.options.out, line.table.json(), line.options.reports);
  files.set_trace(line.options.trace);
  ConsoleObserver console(std::cout, console_of_stdout());
  Observers observers({&files, &console});
  const RunResult result = train(line.options, observers);
  return result.stopped_by_signal == 0 ? 0 : 128 + result.stopped_by_signal;
}

}  // namespace

Command add_train_command(CLI::App& app) {
  const auto line = std::make_shared<TrainLine>();
  CLI::App* command = add_command(app, "train", "Train a network on folders of images.");
  command
      ->add_option("--config", line->config,
                   "JSON file of options, by their names with _ for -; flags on the command line beat it.")
      ->type_name("FILE");
  command->add_flag("--print-config", line->print_config,
                    "Print all options as a JSON file that --config reads, and exit.");
  line->table.add_flags(*command);
  return {command, [line] { return run(*line); }};
}

}  // namespace slipstream
