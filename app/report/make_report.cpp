#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/report/sections.h"
#include "app/version.h"

namespace slipstream {
namespace {

/// Those of plain runs, and one for each row of a compare.
std::vector<DrawnRun> drawn_runs(const ReportInput& input) {
  std::vector<DrawnRun> drawn;
  const auto add = [&drawn](const ReportRun& run, bool in_compare) {
    drawn.push_back({.run = &run, .style = series_style(drawn.size()), .in_compare = in_compare});
  };
  for (const ReportCompare& compare : input.compares) {
    for (const ReportRun& run : compare.runs) add(run, true);
  }
  for (const ReportRun& run : input.runs) add(run, false);
  return drawn;
}

std::string counted(size_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string contents(const ReportInput& input) {
  std::vector<std::string> parts;
  if (!input.compares.empty()) parts.push_back(counted(input.compares.size(), "compare"));
  if (!input.runs.empty()) parts.push_back(counted(input.runs.size(), "run"));
  if (!input.sweeps.empty()) parts.push_back(counted(input.sweeps.size(), "sweep"));
  return fmt::format("{}, by slipstream {}", fmt::join(parts, ", "), version());
}

std::string title(const ReportInput& input) {
  std::vector<std::string> names;
  for (const ReportCompare& compare : input.compares) names.push_back(compare.name);
  for (const ReportRun& run : input.runs) names.push_back(run.name);
  for (const ReportSweep& sweep : input.sweeps) names.push_back(sweep.name);
  constexpr size_t kMostNames = 3;
  if (names.size() <= kMostNames) return fmt::format("Report: {}", fmt::join(names, ", "));
  return fmt::format("Report: {}, {} and {} more", names[0], names[1], names.size() - 2);
}

}  // namespace

Document make_report(const ReportInput& input) {
  Document report{.title = title(input), .subtitle = contents(input), .sections = {}};
  const std::vector<DrawnRun> drawn = drawn_runs(input);
  std::vector<Section> sections;
  for (const ReportCompare& compare : input.compares) sections.push_back(compare_section(compare));
  for (const auto make : {time_section, rate_section, latency_section, timeline_section, curves_section}) {
    sections.push_back(make(drawn));
  }
  for (const ReportSweep& sweep : input.sweeps) sections.push_back(sweep_section(sweep));
  sections.push_back(options_section(drawn));
  for (Section& section : sections) {
    if (!section.blocks.empty()) report.sections.push_back(std::move(section));
  }
  return report;
}

}  // namespace slipstream
