#include "app/bench_command.h"

#include <CLI/CLI.hpp>
#include <vector>

#include "app/bench_compute_command.h"
#include "app/bench_input_command.h"

namespace slipstream {

Command add_bench_command(CLI::App& app) {
  CLI::App* bench = add_command(app, "bench", "Measure a part of the work by itself.");
  bench->require_subcommand(0, 1);
  const std::vector<Command> parts = {add_bench_input_command(*bench), add_bench_compute_command(*bench)};
  return {bench, [bench, parts] { return run_parsed(*bench, parts); }};
}

}  // namespace slipstream
