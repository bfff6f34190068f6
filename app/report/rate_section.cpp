#include <fmt/format.h>

#include <algorithm>

#include "app/report/cells.h"
#include "app/report/epoch_figures.h"
#include "app/report/over_time.h"
#include "app/report/sections.h"
#include "app/units.h"

namespace slipstream {
namespace {

constexpr size_t kRateBins = 120;
constexpr size_t kBusyBins = 160;         // of the picture; wider ones show their range
constexpr double kBusyBinSeconds = 0.05;  // where a run has no utilisation.csv
constexpr size_t kCloseUp = 150;          // rows

double end_of(const std::vector<Interval>& intervals) {
  return intervals.empty() ? 0 : intervals.back().end_s;
}

Axis time_axis(const std::vector<Series>& series, const char* what, double& unit) {
  Axis axis = spanning_x({.title = what}, series);
  const TimeUnit named = time_unit(axis.high);
  axis.title += fmt::format(" ({})", named.name);
  unit = named.seconds;
  return {.title = axis.title, .low = axis.low / unit, .high = axis.high / unit};
}

void scale_x(std::vector<Series>& series, double unit) {
  for (Series& line : series) {
    for (Point& point : line.points) point.x /= unit;
  }
}

double mean_y(const std::vector<Point>& points) {
  double sum = 0;
  for (const Point& point : points) sum += point.y;
  return points.empty() ? 0 : sum / static_cast<double>(points.size());
}

/// The images/s of each run over its training's time; no data where steps were not recorded.
Picture rate_picture(const std::vector<DrawnRun>& runs) {
  Picture picture{
      .title = "Images/s over time",
      .description = "Lines of images per second over the time of training.",
      .draw = {},
      .legend = {},
      .note = fmt::format("Time is that of the training steps, without what passes between epochs; each "
                          "point is the mean of one of {} equal parts of a run.",
                          kRateBins),
      .data = {.caption = "Images/s over time",
               .columns = {{"run"},
                           {"mean", true},
                           {"slowest part", true},
                           {"fastest part", true},
                           {"time of steps", true}},
               .rows = {}}};
  LineChart chart{.x = {}, .y = {.title = "images/s"}, .series = {}, .height = 280};
  for (const DrawnRun& drawn : runs) {
    const std::vector<Interval> intervals = image_intervals(drawn.run->steps);
    const double end = end_of(intervals);
    if (!(end > 0)) continue;
    const size_t bins = std::min(kRateBins, intervals.size());
    Series line{.name = drawn.run->name, .style = drawn.style, .points = rates(intervals, end, bins)};
    const auto [slowest, fastest] = std::ranges::minmax_element(line.points, {}, &Point::y);
    const double mean = mean_y(line.points);
    picture.description += fmt::format(" {}: {} on average.", line.name, rounded(mean));
    picture.data.rows.push_back({text_cell(line.name), number_cell(mean), number_cell(slowest->y),
                                 number_cell(fastest->y), seconds_cell(end)});
    picture.legend.push_back({line.name, drawn.style});
    chart.series.push_back(std::move(line));
  }
  chart.y = rounded_out(spanning_y(chart.y, chart.series), /*from_zero=*/true);
  double unit = 1;
  chart.x = time_axis(chart.series, "time of the steps", unit);
  chart.x.low = 0;
  scale_x(chart.series, unit);
  picture.draw = [chart](double width) { return line_chart(chart, width); };
  return picture;
}

/// From utilisation.csv, else from the steps themselves.
std::vector<Point> busy_points(const ReportRun& run) {
  if (!run.busy.empty()) return points_of(run.busy);
  const std::vector<Interval> intervals = busy_intervals(run.steps);
  const double end = end_of(intervals);
  if (!(end > 0)) return {};
  constexpr double kMostBins = 20'000;
  return rates(intervals, end, static_cast<size_t>(std::clamp(end / kBusyBinSeconds, 1.0, kMostBins)));
}

Picture busy_picture(std::vector<Series> lines, const std::string& title, const std::string& note) {
  Picture picture{.title = title,
                  .description = "Panels, one a run, of the share of time that compute had a step under way.",
                  .draw = {},
                  .legend = {},
                  .note = note,
                  .data = {}};
  for (const Series& line : lines) {
    picture.description += fmt::format(" {}: {} on average.", line.name, share_text(mean_y(line.points)));
  }
  double unit = 1;
  const Axis time = time_axis(lines, "time of training", unit);
  LineChart chart{.x = time,
                  .y = {.title = "compute busy", .low = 0, .high = 1, .is_share = true},
                  .series = std::move(lines),
                  .height = 64};
  scale_x(chart.series, unit);
  for (Series& line : chart.series) line = thinned(std::move(line), kBusyBins);
  picture.draw = [chart](double width) { return panel_chart(chart, width); };
  return picture;
}

DataTable busy_table(const std::vector<DrawnRun>& runs, const std::string& caption) {
  DataTable table{.caption = caption,
                  .columns = {{"run"},
                              {"mean", true},
                              {"lowest", true},
                              {"parts below 50%", true},
                              {"GPU in use, by its driver", true}},
                  .rows = {}};
  for (const DrawnRun& drawn : runs) {
    const std::vector<Point> points = busy_points(*drawn.run);
    if (points.empty()) continue;
    const auto low = std::ranges::count_if(points, [](const Point& point) { return point.y < 0.5; });
    table.rows.push_back({text_cell(drawn.run->name), share_cell(mean_y(points)),
                          share_cell(std::ranges::min_element(points, {}, &Point::y)->y),
                          share_cell(static_cast<double>(low) / static_cast<double>(points.size())),
                          share_cell(last_epoch_figure(drawn.run->epochs, "gpu_util"))});
  }
  return table;
}

/// Rows from the middle of each run, from a common zero.
std::vector<Series> close_ups(std::vector<Series> lines) {
  for (Series& line : lines) {
    const size_t count = line.points.size(), kept = std::min(kCloseUp, count);
    const size_t first = (count - kept) / 2;
    const auto begin = line.points.begin() + static_cast<std::ptrdiff_t>(first);
    line.points = {begin, begin + static_cast<std::ptrdiff_t>(kept)};
    const double zero = line.points.front().x;
    for (Point& point : line.points) point.x -= zero;
  }
  return lines;
}

}  // namespace

Section rate_section(const std::vector<DrawnRun>& runs) {
  Section section{.title = "Throughput and utilisation", .blocks = {}};
  Picture rate = rate_picture(runs);
  if (!rate.data.rows.empty()) section.blocks.emplace_back(std::move(rate));
  std::vector<Series> lines;
  bool longer = false;  // than what one picture shows row by row
  for (const DrawnRun& drawn : runs) {
    std::vector<Point> points = busy_points(*drawn.run);
    if (points.empty()) continue;
    longer = longer || points.size() > kBusyBins;
    lines.push_back({.name = drawn.run->name, .style = drawn.style, .points = std::move(points)});
  }
  if (lines.empty()) return section;
  Picture whole =
      busy_picture(lines, "Compute busy over time",
                   "Of the device's compute stream, or of the processor where it trains. A line is the "
                   "mean; where it stands for several measurements, the band is their range.");
  whole.data = busy_table(runs, whole.title);
  section.blocks.emplace_back(std::move(whole));
  if (longer) {
    section.blocks.emplace_back(
        busy_picture(close_ups(std::move(lines)), "Compute busy, from close by",
                     fmt::format("{} measurements from the middle of each run, from a "
                                 "common zero.",
                                 kCloseUp)));
  }
  return section;
}

}  // namespace slipstream
