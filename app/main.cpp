#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <new>
#include <vector>

#include "app/bench_command.h"
#include "app/command.h"
#include "app/compare_command.h"
#include "app/doctor_command.h"
#include "app/evaluate_command.h"
#include "app/help_format.h"
#include "app/report_command.h"
#include "app/summary_command.h"
#include "app/sweep_command.h"
#include "app/synth_command.h"
#include "app/train_command.h"
#include "app/tune_command.h"
#include "app/version.h"
#include "data/error.h"
#include "pipeline/device.h"

namespace slipstream {
namespace {

int run(int argc, char** argv) {
  CLI::App app("Trains ResNets on folders of images and keeps the GPU busy while it does.", "slipstream");
  app.formatter(std::make_shared<HelpFormat>());
  app.set_version_flag("--version", fmt::format("slipstream {} ({})", version(), build_variant()));
  app.require_subcommand(0, 1);
  app.allow_extras();
  const std::vector<Command> commands = {
      add_train_command(app), add_evaluate_command(app), add_compare_command(app), add_sweep_command(app),
      add_tune_command(app),  add_synth_command(app),    add_summary_command(app), add_report_command(app),
      add_bench_command(app), add_doctor_command(app)};
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help_or_version) {
    return app.exit(help_or_version);
  } catch (const CLI::ArgumentMismatch& error) {
    const std::string what = error.what();  // "--epochs: 1 required N missing"
    throw UsageError(what.substr(0, what.find(':')) + " needs a value.");
  } catch (const CLI::ParseError& error) {
    throw UsageError(fmt::format("{}; see slipstream --help.", error.what()));
  }
  return run_parsed(app, commands);
}

int fail(int exit_code, const std::string& sentence) {
  fmt::print(stderr, "slipstream: {}\n", sentence);
  return exit_code;
}

}  // namespace
}  // namespace slipstream

int main(int argc, char** argv) {
  using slipstream::fail;
  slipstream::configure_gpu_libraries();
  try {
    return slipstream::run(argc, argv);
  } catch (const slipstream::UsageError& error) {
    return fail(2, error.what());
  } catch (const slipstream::Error& error) {
    return fail(1, error.what());
  } catch (const c10::OutOfMemoryError& error) {
    return fail(1, fmt::format("The GPU's memory is full; try a smaller --batch-size. LibTorch says: {}",
                               error.what_without_backtrace()));
  } catch (const c10::Error& error) {
    return fail(1, fmt::format("LibTorch refused: {}", error.what_without_backtrace()));
  } catch (const std::bad_alloc&) {
    return fail(1, "This machine's memory is full; try a smaller --batch-size, --prefetch or --workers.");
  } catch (const std::exception& error) {
    return fail(1, error.what());
  }
}
