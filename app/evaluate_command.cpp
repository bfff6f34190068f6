#include "app/evaluate_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <string>

#include "app/console_observer.h"
#include "app/images_folder.h"
#include "app/json_output.h"
#include "app/train_options_table.h"
#include "app/units.h"
#include "data/error.h"
#include "pipeline/evaluate_folder.h"

namespace slipstream {
namespace {

struct EvaluateLine {
  EvaluateLine() {
    table.keep(network_options({"val_resize", "val_interpolation", "mode", "decode"}));
    table.group("Data");
    table.text("data", data, "DIR", "Folder of images: a folder a class, or a folder that holds val/.");
    table.group("Output");
    json.add_to(table);
  }

  TrainOptions options;
  OptionTable table = train_options_table(options);
  std::string data;
  JsonOutput json;
};

Json record(const EvaluateLine& line, const TrainSetup& setup, const FolderEvaluation& evaluation) {
  Json bad_files = Json::array();
  for (const BadFile& file : evaluation.bad_files)
    bad_files.push_back({{"path", file.path}, {"why", file.why}});
  const Evaluation& means = evaluation.means;
  return {{"folder", setup.train_dir},
          {"arch", line.options.arch},
          {"weights", line.options.weights},
          {"decode", setup.decoder_name()},
          {"images", means.images},
          {"top1", means.top1},
          {"top5", means.top5},
          {"loss", means.loss},
          {"wall_s", evaluation.wall_s},
          {"bad_files", bad_files}};
}

int run(EvaluateLine& line) {
  line.table.read_flags();
  line.json.require_place();
  if (line.options.weights.empty()) {
    throw UsageError(
        "--weights is missing: name the state dictionary to evaluate, such as a run's model.pt.");
  }
  line.options.train_dir = images_folder(line.data, "val");
  const TrainSetup setup = resolve(line.options);
  const bool json_alone = line.json.alone();
  Console place = console_of_stdout();
  if (json_alone) place.terminal = false;
  ConsoleObserver console(json_alone ? std::cerr : std::cout, place, "what --json writes");
  const FolderEvaluation evaluation = evaluate_folder(setup, console);
  for (const BadFile& file : evaluation.bad_files) console.on_bad_file(file.path, file.why);

  if (!json_alone) {
    const Evaluation& means = evaluation.means;
    console.on_message(fmt::format("{}: {} images, top1 {}, top5 {}, loss {:.4f}; {}, {} images/s.",
                                   setup.train_dir, means.images, share_text(means.top1),
                                   share_text(means.top5), means.loss, seconds_text(evaluation.wall_s),
                                   rounded(static_cast<double>(means.images) / evaluation.wall_s)));
  }
  line.json.write(record(line, setup, evaluation));
  return 0;
}

}  // namespace

Command add_evaluate_command(CLI::App& app) {
  const auto line = std::make_shared<EvaluateLine>();
  CLI::App* command =
      add_command(app, "evaluate", "Measure a trained network's accuracy on a folder of images.");
  line->table.add_flags(*command);
  return {command, [line] { return run(*line); }};
}

}  // namespace slipstream
