#include "app/command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "app/nearest.h"
#include "data/error.h"

namespace slipstream {
namespace {

std::vector<std::string> flags(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::vector<std::string> commands(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

/// "slipstream bench input"
std::string full_name(const CLI::App& app) {
  const CLI::App* parent = app.get_parent();
  return parent == nullptr ? app.get_name() : full_name(*parent) + " " + app.get_name();
}

}  // namespace

CLI::App* add_command(CLI::App& app, const char* name, const char* description) {
  CLI::App* command = app.add_subcommand(name, description);
  command->allow_extras();
  return command;
}

int run_parsed(const CLI::App& app, const std::vector<Command>& commands) {
  refuse_unknown(app);
  for (const Command& command : commands) {
    if (!command.line->parsed()) continue;
    refuse_unknown(*command.line);
    return command.body();
  }
  const CLI::App* parent = app.get_parent();
  fmt::print("{}", app.help(parent == nullptr ? "" : full_name(*parent)));
  return 0;
}

void refuse_unknown(const CLI::App& app) {
  const std::vector<std::string> unknown = app.remaining();
  if (unknown.empty()) return;
  const std::string word = unknown[0].substr(0, unknown[0].find('='));
  if (word.starts_with("-")) {
    throw UsageError(fmt::format("{}: no such option; did you mean {}?", word, nearest(word, flags(app))));
  }
  if (!commands(app).empty()) {
    throw UsageError(
        fmt::format("{}: no such command; did you mean {}?", word, nearest(word, commands(app))));
  }
  throw UsageError(fmt::format("'{}' belongs to no option; see {} --help.", unknown[0], full_name(app)));
}

}  // namespace slipstream
