#pragma once

#include <functional>
#include <vector>

namespace CLI {
class App;
}

namespace slipstream {

/// A subcommand: its command line, and what to do once that has been parsed. The body returns the exit code.
struct Command {
  CLI::App* line = nullptr;
  std::function<int()> body;
};

/// Adds a subcommand to `app`. Arguments that it doesn't know stay in its remaining(), for `refuse_unknown`.
CLI::App* add_command(CLI::App& app, const char* name, const char* description);

/// Runs the one of `commands` that `app`'s command line named and returns its exit code. Where it named none,
/// prints help and returns 0. Throws UsageError for an argument that the command doesn't know.
int run_parsed(const CLI::App& app, const std::vector<Command>& commands);

/// Throws UsageError for the first argument that `app`'s parse did not know, naming the nearest it knows.
void refuse_unknown(const CLI::App& app);

}  // namespace slipstream
