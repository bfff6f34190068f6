#include "app/bench_compute_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <limits>
#include <memory>

#include "app/compute_table.h"
#include "app/json_output.h"
#include "app/records.h"
#include "app/train_options_table.h"
#include "pipeline/compute_bench.h"

namespace slipstream {
namespace {

struct ComputeLine {
  ComputeLine() {
    options.synthetic = true;
    table.keep({"arch", "weights", "image_size", "batch_size", "lr", "momentum", "weight_decay",
                "label_smoothing", "seed", "device", "amp", "channels_last", "fused_norm", "cudnn_benchmark",
                "tf32", "deterministic", "cuda_graph", "grad_accum_steps", "profile"});
    table.group("Measurement");
    table.integer("steps", measurement.steps, 0, std::numeric_limits<int64_t>::max(),
                  "Steps of a window, after a warm-up; 0: as many as take a second.");
    table.integer("windows", measurement.windows, 1, 1000,
                  "Windows to time, one behind the other; the median counts.");
    json.add_to(table);
  }

  TrainOptions options;
  OptionTable table = train_options_table(options);
  ComputeMeasurement measurement;
  JsonOutput json;
};

Json record(const ComputeLine& line, const TrainSetup& setup, const ComputeRate& rate) {
  const Json options = line.table.json();
  Json figures = Json::object();
  for (const char* key : {"arch", "image_size", "batch_size", "grad_accum_steps", "label_smoothing", "amp",
                          "channels_last", "fused_norm", "cudnn_benchmark", "tf32", "deterministic"}) {
    figures[key] = options.at(key);
  }
  figures["device"] = setup.device.str();
  figures.update(compute_record(rate));
  return figures;
}

void print_title(const ComputeLine& line, const TrainSetup& setup, const ComputeRate& rate) {
  const TrainOptions& options = setup.options;
  fmt::print("{}, batches of {} at {} px, --amp {}{}{}{}, on {}.\n", options.arch, options.batch_size,
             options.image_size, line.table.json().at("amp").get<std::string>(),
             options.channels_last ? ", --channels-last" : "",
             options.cudnn_benchmark ? ", --cudnn-benchmark" : "", rate.cuda_graph ? ", --cuda-graph" : "",
             setup.device.str());
  if (!rate.why_no_graph.empty()) fmt::print("{}\n", rate.why_no_graph);
}

int run(ComputeLine& line) {
  line.table.read_flags();
  line.json.require_place();
  const TrainSetup setup = resolve(line.options);
  const ComputeRate rate = measure_compute(setup, line.measurement);

  if (!line.json.alone()) {
    print_title(line, setup, rate);
    fmt::print("{}", compute_table(rate));
  }
  line.json.write(record(line, setup, rate));
  return 0;
}

}  // namespace

Command add_bench_compute_command(CLI::App& bench) {
  const auto line = std::make_shared<ComputeLine>();
  CLI::App* command = add_command(
      bench, "compute", "Measure the training step without input: images a second, and kinds of kernels.");
  line->table.add_flags(*command);
  return {command, [line] { return run(*line); }};
}

}  // namespace slipstream
