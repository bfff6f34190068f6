#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "app/report/cells.h"
#include "app/report/percentile_chart.h"
#include "app/report/scale.h"
#include "app/report/sections.h"
#include "app/report/steps_file.h"
#include "pipeline/percentile.h"

namespace slipstream {
namespace {

struct Latency {
  const char* name;
  double (*seconds)(const StepRecord& step);
};

double input_work(const StepRecord& step) {
  return step.times.read_s + step.times.decode_s + step.times.resize_s + step.times.h2d_s;
}

constexpr std::array<Latency, 4> kLatencies = {
    {{"step", step_seconds},
     {"compute", [](const StepRecord& step) { return step.times.compute_s; }},
     {"wait for the batch", [](const StepRecord& step) { return step.times.data_wait_s; }},
     {"work on the batch, all threads", input_work}}};

/// But for the first one, which warms up.
std::vector<double> seconds_of(const ReportRun& run, const Latency& latency) {
  std::vector<double> seconds;
  for (size_t at = 1; at < run.steps.size(); ++at) seconds.push_back(latency.seconds(run.steps[at]));
  return seconds;
}

PercentileRow row_of(const std::string& name, const std::vector<double>& seconds) {
  PercentileRow row{.name = name,
                    .label = {},
                    .p50 = percentile(seconds, 50),
                    .p95 = percentile(seconds, 95),
                    .p99 = percentile(seconds, 99),
                    .longest = percentile(seconds, 100)};
  row.label = duration_text(row.p50);
  return row;
}

}  // namespace

Section latency_section(const std::vector<DrawnRun>& runs) {
  Section section{.title = "Latency", .blocks = {}};
  Picture picture{
      .title = "Time of a step",
      .description = "For each run the median of its steps' times, and how far the slow ones reach.",
      .draw = {},
      .legend = {},
      .note =
          "Dot: the median step, from the end of the one before, with its wait for the batch. Bar: "
          "to the 95th percentile; stroke: the 99th; ring: the longest. Without each run's first "
          "step, which warms up.",
      .data = {.caption = "Percentiles of times of steps and of batches",
               .columns = {{"run"},
                           {"of"},
                           {"50%", true},
                           {"95%", true},
                           {"99%", true},
                           {"longest", true},
                           {"steps", true}},
               .rows = {}}};
  PercentileChart chart{.axis_title = "time of a step", .unit = 1, .rows = {}};
  double longest = 0;
  for (const DrawnRun& drawn : runs) {
    if (drawn.run->steps.size() < 2) continue;
    for (const Latency& latency : kLatencies) {
      const std::vector<double> seconds = seconds_of(*drawn.run, latency);
      const PercentileRow row = row_of(drawn.run->name, seconds);
      picture.data.rows.push_back({text_cell(row.name), text_cell(latency.name), seconds_cell(row.p50),
                                   seconds_cell(row.p95), seconds_cell(row.p99), seconds_cell(row.longest),
                                   number_cell(static_cast<double>(seconds.size()))});
      picture.data.rows.back().back().text = fmt::format("{}", seconds.size());
      if (&latency != kLatencies.begin()) continue;
      longest = std::max(longest, row.longest);
      picture.description +=
          fmt::format(" {}: median {}, 99th percentile {}.", row.name, row.label, duration_text(row.p99));
      chart.rows.push_back(row);
    }
  }
  if (chart.rows.empty()) return section;
  const TimeUnit unit = time_unit(longest);
  chart.unit = unit.seconds;
  chart.axis_title += fmt::format(" ({})", unit.name);
  picture.draw = [chart](double width) { return percentile_chart(chart, width); };
  section.blocks.emplace_back(std::move(picture));
  return section;
}

}  // namespace slipstream
