#include "app/report_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "app/option_table.h"
#include "app/report/html_page.h"
#include "app/report/markdown_page.h"
#include "app/report/sections.h"
#include "data/error.h"
#include "data/file_io.h"

namespace slipstream {
namespace {

struct ReportLine {
  ReportLine() {
    table.group("Options");
    table.text("out", out, "FILE",
               "The HTML page, one file that needs no network; without --out and --markdown: report.html.");
    table.text("markdown", markdown, "FILE",
               "The same sentences and tables as Markdown; -: to the standard output.");
  }

  std::vector<std::string> folders;
  std::string out, markdown;
  OptionTable table;
};

void write(const std::string& file, const std::string& text) {
  write_file_atomically(file, text);
  fmt::print(stderr, "Wrote {}.\n", file);
}

int run(ReportLine& line) {
  line.table.read_flags();
  if (!line.out.empty() && line.out == line.markdown) {
    throw UsageError("--out and --markdown name the same file; give them two.");
  }
  const Document report = make_report(read_report_input(line.folders));
  if (line.out.empty() && line.markdown.empty()) line.out = "report.html";
  if (!line.out.empty()) write(line.out, html_page(report));
  if (line.markdown == "-") {
    fmt::print("{}", markdown_page(report));
  } else if (!line.markdown.empty()) {
    write(line.markdown, markdown_page(report));
  }
  return 0;
}

}  // namespace

Command add_report_command(CLI::App& app) {
  const auto line = std::make_shared<ReportLine>();
  CLI::App* command =
      add_command(app, "report", "Write a page of figures and tables from runs, compares and sweeps.");
  command
      ->add_option("DIR", line->folders, "Folders that train, compare or sweep wrote, as --out named them.")
      ->required();
  line->table.add_flags(*command);
  return {command, [line] { return run(*line); }};
}

}  // namespace slipstream
