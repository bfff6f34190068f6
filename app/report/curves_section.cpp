#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/report/cells.h"
#include "app/report/epoch_figures.h"
#include "app/report/over_time.h"
#include "app/report/sections.h"

namespace slipstream {
namespace {

constexpr size_t kMostPoints = 150;

/// The loss after each part of an epoch: epoch 2 goes from x = 1 to x = 2.
std::vector<Point> losses_of(const std::vector<StepRecord>& steps) {
  int64_t most = 1;  // an epoch that is under way is as long as the others
  for (const StepRecord& step : steps) most = std::max(most, step.step);
  std::vector<Point> points;
  for (const StepRecord& step : steps) {
    const double part = static_cast<double>(step.step) / static_cast<double>(most);
    points.push_back({static_cast<double>(step.epoch - 1) + part, step.loss});
  }
  return points;
}

std::vector<Point> epoch_points(const Json& epochs, const char* key) {
  std::vector<Point> points;
  for (const Json& epoch : epochs) {
    points.push_back({epoch.at("epoch").get<double>(), epoch_figure(epoch, key).value_or(NAN)});
  }
  return points;
}

bool has_values(const Series& line) {
  return std::ranges::any_of(line.points, [](const Point& point) { return std::isfinite(point.y); });
}

void add_line(LineChart& chart, Series line) {
  if (has_values(line)) chart.series.push_back(std::move(line));
}

/// Of training a line, of validation dots joined by dashes.
void add_lines(LineChart& chart, const DrawnRun& drawn, std::vector<Point> training, const char* validation) {
  Series trained =
      thinned({.name = drawn.run->name, .style = drawn.style, .points = std::move(training)}, kMostPoints);
  trained.lows.clear();
  trained.highs.clear();
  add_line(chart, std::move(trained));
  add_line(chart, {.name = drawn.run->name,
                   .style = drawn.style + " validated",
                   .points = epoch_points(drawn.run->epochs, validation),
                   .dots = true});
}

std::string last_values(const std::vector<DrawnRun>& runs, const char* trained, const char* validated,
                        Cell (*cell)(std::optional<double>)) {
  std::string words;
  constexpr size_t kMostNamed = 8;
  for (const DrawnRun& drawn : runs) {
    if (&drawn - runs.data() >= static_cast<std::ptrdiff_t>(kMostNamed)) {
      return words + fmt::format(" And {} more.", runs.size() - kMostNamed);
    }
    const auto training = last_epoch_figure(drawn.run->epochs, trained);
    const auto validation = last_epoch_figure(drawn.run->epochs, validated);
    if (!training && !validation) continue;
    words += fmt::format(" {} ends at {} in training, {} in validation.", drawn.run->name,
                         cell(training).text, cell(validation).text);
  }
  return words;
}

Picture picture_of(LineChart chart, const std::vector<DrawnRun>& runs, const std::string& title,
                   const std::string& description) {
  Picture picture{.title = title,
                  .description = description,
                  .draw = {},
                  .half = true,
                  .legend = {},
                  .note = "Line: training. Dots: validation. Of runs with equal values the last is seen.",
                  .data = {}};
  constexpr size_t kMostNamed = 8;
  for (const DrawnRun& drawn : runs) {
    if (runs.size() > kMostNamed && drawn.style.starts_with("muted")) continue;
    picture.legend.push_back({drawn.run->name, drawn.style});
  }
  if (picture.legend.size() < runs.size()) picture.legend.push_back({"the other runs", "muted"});
  chart.x = rounded_out(spanning_x({.title = "epoch"}, chart.series), /*from_zero=*/true);
  chart.x.high = std::max(1.0, std::ceil(spanning_x({}, chart.series).high));
  chart.x.least_step = 1;
  chart.height = 280;
  picture.draw = [chart](double width) { return line_chart(chart, width); };
  return picture;
}

DataTable epochs_table(const std::vector<DrawnRun>& runs, const std::string& caption) {
  DataTable table{.caption = caption,
                  .columns = {{"run"},
                              {"epoch", true},
                              {"time", true},
                              {"images/s", true},
                              {"train loss", true},
                              {"train top-1", true},
                              {"val loss", true},
                              {"val top-1", true},
                              {"val top-5", true}},
                  .rows = {}};
  for (const DrawnRun& drawn : runs) {
    for (const Json& epoch : drawn.run->epochs) {
      const Cell number{.text = epoch.at("epoch").dump(), .value = epoch.at("epoch").get<double>()};
      table.rows.push_back(
          {text_cell(drawn.run->name), number, seconds_cell(epoch_figure(epoch, "wall_s")),
           number_cell(epoch_figure(epoch, "images_per_s")), number_cell(epoch_figure(epoch, "train_loss")),
           share_cell(epoch_figure(epoch, "train_top1")), number_cell(epoch_figure(epoch, "val_loss")),
           share_cell(epoch_figure(epoch, "val_top1")), share_cell(epoch_figure(epoch, "val_top5"))});
    }
  }
  return table;
}

}  // namespace

std::vector<Block> curve_pictures(const std::vector<DrawnRun>& runs, const std::string& of) {
  LineChart loss{.x = {}, .y = {.title = "loss"}, .series = {}};
  LineChart top1{.x = {}, .y = {.title = "top-1", .is_share = true}, .series = {}};
  for (const DrawnRun& drawn : runs) {
    const ReportRun& run = *drawn.run;
    add_lines(loss, drawn, run.steps.empty() ? epoch_points(run.epochs, "train_loss") : losses_of(run.steps),
              "val_loss");
    add_lines(top1, drawn, epoch_points(run.epochs, "train_top1"), "val_top1");
  }
  std::vector<Block> blocks;
  if (!loss.series.empty()) {
    loss.y = spanning_y(loss.y, loss.series);
    const bool is_log = wants_log(loss.y.low, loss.y.high);
    loss.y = is_log ? rounded_out_log(loss.y) : rounded_out(loss.y, /*from_zero=*/false);
    blocks.emplace_back(picture_of(
        loss, runs, "Loss" + of,
        "Lines of the loss over epochs." + last_values(runs, "train_loss", "val_loss", number_cell)));
  }
  if (!top1.series.empty()) {
    top1.y = rounded_out(spanning_y(top1.y, top1.series), /*from_zero=*/true);
    top1.y.high = std::min(top1.y.high, 1.0);
    blocks.emplace_back(picture_of(top1, runs, "Top-1 accuracy" + of,
                                   "Lines of the share of images whose class was the network's first guess." +
                                       last_values(runs, "train_top1", "val_top1", share_cell)));
  }
  return blocks;
}

Section curves_section(const std::vector<DrawnRun>& runs) {
  Section section{.title = "Loss and accuracy", .blocks = curve_pictures(runs, "")};
  DataTable table = epochs_table(runs, "Epochs");
  if (!table.rows.empty()) section.blocks.emplace_back(std::move(table));
  return section;
}

}  // namespace slipstream
