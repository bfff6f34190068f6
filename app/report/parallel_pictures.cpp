#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/option_table.h"
#include "app/report/bar_chart.h"
#include "app/report/cells.h"
#include "app/report/parallel_chart.h"
#include "app/report/scale.h"
#include "app/report/sweep_grid.h"
#include "app/report/sweep_pictures.h"

namespace slipstream {
namespace {

/// Values evenly apart: options are steps, and learning rates go by factors.
ParallelAxis option_axis(const GridOption& option) {
  ParallelAxis axis{.title = option.key, .marks = {}};
  const double last = static_cast<double>(option.values.size()) - 1;
  for (size_t at = 0; at < option.values.size(); ++at) {
    axis.marks.push_back({last > 0 ? static_cast<double>(at) / last : 0.5, option_text(option.values[at])});
  }
  return axis;
}

/// A figure's axis, the better to the right.
class FigureAxis {
 public:
  FigureAxis(const ReportSweep& sweep, const Figure& figure) : figure_(&figure) {
    for (const SweepResult& result : sweep.results) {
      const Json value = figure_value(figure, &result);
      if (value.is_null()) continue;
      worst_ = any_ ? worse(value.get<double>(), worst_) : value.get<double>();
      best_ = any_ ? -worse(-value.get<double>(), -best_) : value.get<double>();
      any_ = true;
    }
  }
  bool any() const { return any_; }
  double place(const SweepResult& result) const {
    const Json value = figure_value(*figure_, &result);
    if (value.is_null()) return NAN;
    const bool is_log = wants_log(std::min(worst_, best_), std::max(worst_, best_));
    return Scale(worst_, best_, 0, 1, is_log)(value.get<double>());
  }
  ParallelAxis axis() const {
    ParallelAxis axis{.title = std::string(figure_->title), .marks = {{0, figure_->text(worst_)}}};
    if (best_ != worst_) axis.marks.push_back({1, figure_->text(best_)});
    if (best_ == worst_) axis.marks[0].place = 0.5;
    return axis;
  }

 private:
  double worse(double a, double b) const { return figure_->more_is_better ? std::min(a, b) : std::max(a, b); }

  const Figure* figure_;
  double worst_ = 0, best_ = 0;
  bool any_ = false;
};

}  // namespace

int best_result(const ReportSweep& sweep) {
  for (const char* key : {"top1", "loss"}) {
    const Figure& figure = *find_figure(key);
    int best = -1;
    double best_value = 0;
    for (size_t at = 0; at < sweep.results.size(); ++at) {
      const Json value = figure_value(figure, &sweep.results[at]);
      if (value.is_null() || sweep.results[at].status != RunStatus::kDone) continue;
      const double number = value.get<double>();
      if (best >= 0 && (figure.more_is_better ? number <= best_value : number >= best_value)) continue;
      best = static_cast<int>(at);
      best_value = number;
    }
    if (best >= 0) return best;
  }
  return -1;
}

std::vector<Block> parallel_pictures(const ReportSweep& sweep) {
  ParallelChart chart;
  const std::vector<GridOption> options = grid_options(sweep);
  for (const GridOption& option : options) chart.axes.push_back(option_axis(option));
  std::vector<FigureAxis> figures;
  for (const Figure& figure : kFigures) {
    const FigureAxis axis(sweep, figure);
    if (axis.any()) figures.push_back(axis);
  }
  if (figures.empty()) return {};
  for (const FigureAxis& figure : figures) chart.axes.push_back(figure.axis());

  const int best = best_result(sweep);
  for (size_t at = 0; at < sweep.results.size(); ++at) {
    const SweepResult& result = sweep.results[at];
    ParallelLine line{
        .places = {}, .style = static_cast<int>(at) == best ? "s2 strong" : "muted", .name = result.name};
    for (size_t axis = 0; axis < options.size(); ++axis) {
      const Json value =
          result.config.contains(options[axis].key) ? result.config.at(options[axis].key) : Json();
      line.places.push_back(chart.axes[axis].marks[options[axis].place_of(value)].place);
    }
    for (const FigureAxis& figure : figures) line.places.push_back(figure.place(result));
    chart.lines.push_back(std::move(line));
  }
  std::stable_partition(chart.lines.begin(), chart.lines.end(),
                        [](const ParallelLine& line) { return line.style == "muted"; });

  Picture picture{
      .title = fmt::format("{}: options and figures of each run", sweep.name),
      .description = fmt::format("A line for each of {} runs through its options and its figures.",
                                 sweep.results.size()),
      .draw = [chart](double width) { return parallel_chart(chart, width); },
      .legend = {{"the other runs", "muted"}},
      .note = "Figures' axes have the better end on the right.",
      .data = {}};
  if (best >= 0) {
    const std::string& name = sweep.results[static_cast<size_t>(best)].name;
    picture.description += fmt::format(" The most accurate is {}.", name);
    picture.legend.insert(picture.legend.begin(), {fmt::format("the most accurate: {}", name), "s2"});
  }
  return {std::move(picture)};
}

std::vector<Block> bar_pictures(const ReportSweep& sweep) {
  const Figure& figure = *find_figure("images_per_s");
  BarChart chart{.axis_title = "images/s", .unit = 1, .bars = {}};
  Picture picture{.title = fmt::format("{}: images/s", sweep.name),
                  .description = "Bars of images per second."};
  const std::vector<GridOption> options = grid_options(sweep);
  const bool tells_apart = options.size() == 1 && options[0].values.size() == sweep.results.size();
  for (const SweepResult& result : sweep.results) {
    const Json value = figure_value(figure, &result);
    if (value.is_null()) continue;
    std::string name = result.name;
    if (tells_apart && result.config.contains(options[0].key)) {
      name = fmt::format("{} {}", options[0].key, option_text(result.config.at(options[0].key)));
    }
    const std::string text = figure.text(value.get<double>());
    picture.description += fmt::format(" {}: {}.", name, text);
    chart.bars.push_back({.name = name, .label = text, .parts = {{text, value.get<double>(), "compute"}}});
  }
  if (chart.bars.empty()) return {};
  picture.draw = [chart](double width) { return bar_chart(chart, width); };
  return {std::move(picture)};
}

}  // namespace slipstream
