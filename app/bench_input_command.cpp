#include "app/bench_input_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "app/console_observer.h"
#include "app/images_folder.h"
#include "app/input_table.h"
#include "app/json_output.h"
#include "app/records.h"
#include "app/trace_file.h"
#include "app/train_options_table.h"
#include "data/error.h"
#include "pipeline/device.h"
#include "pipeline/index_folder.h"
#include "pipeline/input_bench.h"

namespace slipstream {
namespace {

using Modes = std::vector<Mode>;
using Decoders = std::vector<Decoder>;

const Decoders kAllDecoders = {Decoder::kCpu, Decoder::kCuda};

struct InputLine {
  InputLine() {
    table.keep(input_options({"seed", "trace_steps"}));
    table.group("Data");
    table.text("data", data, "DIR", "Folder of images: a folder a class, or a folder that holds train/.");
    table.group("Pipeline");
    table.choice<Modes>("mode", modes,
                        {{"serial", {Mode::kSerial}},
                         {"pinned", {Mode::kPinned}},
                         {"overlapped", {Mode::kOverlapped}},
                         {"all", {Mode::kSerial, Mode::kPinned, Mode::kOverlapped}}},
                        "How input would share time with compute; all: one after the other.");
    table.choice<Decoders>("decode", decoders,
                           {{"auto", {Decoder::kAuto}},
                            {"cpu", {Decoder::kCpu}},
                            {"cuda", {Decoder::kCuda}},
                            {"all", kAllDecoders}},
                           "Who decodes images; auto: who would decode in training; all: each that build and "
                           "machine have.");
    table.group("Measurement");
    table.integer("batches", batches, 0, std::numeric_limits<int64_t>::max(),
                  "Batches to measure, after a warm-up that goes twice round the ring; 0: as many as come in "
                  "5 seconds, 10 at least. A small folder is gone through again and again.");
    table.text(
        "trace", options.trace, "FILE",
        "Record what each thread and stream does in the first --trace-steps batches, and when, as trace "
        "events for ui.perfetto.dev or chrome://tracing.");
    json.add_to(table);
  }

  TrainOptions options;
  OptionTable table = train_options_table(options);
  std::string data;
  Modes modes = {options.mode};
  Decoders decoders = {options.decode};
  int64_t batches = 0;
  JsonOutput json;
};

std::vector<TrainSetup> resolve_all(const InputLine& line) {
  std::vector<TrainSetup> setups;
  const bool has_cuda = can_decode_on(parse_device(line.options.device));
  for (const Decoder decoder : line.decoders) {
    if (line.decoders == kAllDecoders && decoder == Decoder::kCuda && !has_cuda) continue;
    for (const Mode mode : line.modes) {
      TrainOptions options = line.options;
      options.mode = mode;
      options.decode = decoder;
      setups.push_back(resolve(options));
    }
  }
  return setups;
}

ImageFolder index_images(const std::string& root, bool quiet) {
  if (quiet) return index_folder(root, indexing_threads(), [](int64_t, int64_t, int64_t) {});
  ConsoleObserver console(std::cout, console_of_stdout());
  return index_folder(root, indexing_threads(), [&](int64_t done, int64_t classes, int64_t files) {
    console.on_indexed(done, classes, files);
  });
}

std::vector<InputRate> measure(const std::vector<TrainSetup>& setups, const ImageFolder& folder,
                               const InputLine& line) {
  const bool shows_progress = !line.json.alone() && isatty(STDOUT_FILENO) == 1;
  std::vector<InputRate> rates;
  for (const TrainSetup& setup : setups) {
    if (shows_progress) {
      fmt::print("\rmeasuring {} of {}: {}, {} decode\x1b[K", rates.size() + 1, setups.size(),
                 mode_name(setup.options.mode), setup.decoder_name());
      std::fflush(stdout);
    }
    rates.push_back(measure_input(setup, folder, line.batches));
    if (shows_progress) fmt::print("\r\x1b[K");
  }
  return rates;
}

Json record(const std::string& folder, const TrainOptions& options, const std::vector<InputRate>& rates) {
  Json rows = Json::array();
  for (const InputRate& rate : rates) rows.push_back(input_record(rate));
  return {{"folder", folder},
          {"batch_size", options.batch_size},
          {"image_size", options.image_size},
          {"rows", rows}};
}

void print_rates(const ImageFolder& folder, const TrainSetup& setup, const std::vector<InputRate>& rates) {
  const TrainOptions& options = setup.options;
  fmt::print("{}: {} images of {} classes, in batches of {} at {} px.\n", folder.root, folder.samples.size(),
             folder.classes.size(), options.batch_size, options.image_size);
  fmt::print("Run with --workers {} --prefetch {} --device {}.\n\n", options.workers, options.prefetch,
             setup.device.str());
  fmt::print("{}", input_table(rates));
  int64_t bad_files = 0;
  for (const InputRate& rate : rates) bad_files += rate.bad_files;
  if (bad_files > 0) fmt::print("\nBad files were left out {} times.\n", bad_files);
}

void write_traces(const std::string& file, const std::vector<InputRate>& rates) {
  std::vector<const Trace*> traces;
  for (const InputRate& rate : rates) traces.push_back(rate.trace.get());
  write_trace(file, traces);
}

int run(InputLine& line) {
  line.table.read_flags();
  line.json.require_place();
  line.options.train_dir = images_folder(line.data, "train");
  const std::vector<TrainSetup> setups = resolve_all(line);
  const ImageFolder folder = index_images(line.options.train_dir, line.json.alone());
  const std::vector<InputRate> rates = measure(setups, folder, line);

  if (!line.json.alone()) print_rates(folder, setups.front(), rates);
  line.json.write(record(folder.root, line.options, rates));
  if (!line.options.trace.empty()) write_traces(line.options.trace, rates);
  return 0;
}

}  // namespace

Command add_bench_input_command(CLI::App& bench) {
  const auto line = std::make_shared<InputLine>();
  CLI::App* command = add_command(
      bench, "input", "Measure the input path without a model: images a second, and where time goes.");
  line->table.add_flags(*command);
  return {command, [line] { return run(*line); }};
}

}  // namespace slipstream
