#include "app/report/time_bars.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/report/bar_chart.h"
#include "app/report/cells.h"
#include "app/report/epoch_figures.h"
#include "app/report/scale.h"
#include "app/report/stage_styles.h"

namespace slipstream {
namespace {

std::optional<double> share_of(std::optional<double> part, double whole) {
  return part && whole > 0 ? std::optional(*part / whole) : std::nullopt;
}

/// "serial: 2.1 s, of it compute 1.2 s, exposed input 0.8 s, other 0.1 s"
std::string words(const std::string& name, const EpochParts& parts) {
  if (!parts.compute_s) return fmt::format("{}: {}, parts not measured", name, duration_text(parts.wall_s));
  return fmt::format("{}: {}, of it compute {}, exposed input {}, other {}", name,
                     duration_text(parts.wall_s), duration_text(*parts.compute_s),
                     duration_text(parts.exposed_s.value_or(0)), duration_text(parts.other_s));
}

Bar bar_of(const TimedRun& timed, const EpochParts& parts) {
  Bar bar{.name = timed.run->name, .label = duration_text(parts.wall_s), .parts = {}, .range = timed.range};
  if (parts.compute_s)
    bar.parts.push_back({"compute " + duration_text(*parts.compute_s), *parts.compute_s, "compute"});
  if (parts.exposed_s) {
    bar.parts.push_back({"exposed input " + duration_text(*parts.exposed_s), *parts.exposed_s, "exposed"});
  }
  bar.parts.push_back({"other " + duration_text(parts.other_s), parts.other_s, "other"});
  return bar;
}

void set_unit(BarChart& chart) {
  double longest = 0;
  for (const Bar& bar : chart.bars) longest = std::max(longest, bar.total());
  const TimeUnit unit = time_unit(longest);
  chart.unit = unit.seconds;
  chart.axis_title += fmt::format(" ({})", unit.name);
}

}  // namespace

Picture time_picture(const std::vector<TimedRun>& runs, const std::string& title) {
  Picture picture{.title = title,
                  .description = "Bars of the last epoch's time.",
                  .draw = {},
                  .legend = {{"compute", "compute"}, {"exposed input", "exposed"}, {"other", "other"}},
                  .note =
                      "The training part of each run's last epoch. Exposed input is when the step waits for "
                      "its batch; input that is hidden behind compute takes no time here.",
                  .data = {.caption = title,
                           .columns = {{"run"},
                                       {"epoch time", true},
                                       {"compute", true},
                                       {"exposed input", true},
                                       {"other", true},
                                       {"data wait", true},
                                       {"input hidden", true},
                                       {"GPU in use", true},
                                       {"of the step alone", true}},
                           .rows = {}}};
  BarChart chart{.axis_title = "epoch time", .unit = 1, .bars = {}};
  for (const TimedRun& timed : runs) {
    const auto parts = timed.run->epochs.empty() ? std::nullopt : epoch_parts(timed.run->epochs.back());
    if (!parts) continue;
    chart.bars.push_back(bar_of(timed, *parts));
    picture.description += " " + words(timed.run->name, *parts) + ".";
    const Json& epochs = timed.run->epochs;
    picture.data.rows.push_back(
        {text_cell(timed.run->name), seconds_cell(parts->wall_s), seconds_cell(parts->compute_s),
         seconds_cell(parts->exposed_s),
         seconds_cell(parts->compute_s ? std::optional(parts->other_s) : std::nullopt),
         share_cell(share_of(parts->exposed_s, parts->wall_s)),
         share_cell(last_epoch_figure(epochs, "hidden_share")),
         share_cell(last_epoch_figure(epochs, "gpu_util")),
         share_cell(last_epoch_figure(epochs, "alone_share"))});
  }
  set_unit(chart);
  picture.draw = [chart](double width) { return bar_chart(chart, width); };
  return picture;
}

Picture stages_picture(const std::vector<TimedRun>& runs, const std::string& title) {
  Picture picture{.title = title,
                  .description = "Bars of the seconds that reading, decoding, resizing and copying took.",
                  .draw = {},
                  .legend = {},
                  .note =
                      "Summed over the threads that did the work, so a bar may be longer than the epoch; how "
                      "much of it the step had to wait for is above.",
                  .data = {.caption = title, .columns = {{"run"}}, .rows = {}}};
  for (const StageStyle& stage : kStages) {
    picture.legend.push_back({stage.name, stage.style});
    picture.data.columns.push_back({stage.name, true});
  }
  BarChart chart{.axis_title = "work of the input in one epoch", .unit = 1, .bars = {}};
  for (const TimedRun& timed : runs) {
    const Json& epochs = timed.run->epochs;
    if (!last_epoch_figure(epochs, "read_s")) continue;
    Bar bar{.name = timed.run->name, .label = {}, .parts = {}, .range = {}};
    std::vector<Cell> cells = {text_cell(timed.run->name)};
    for (const StageStyle& stage : kStages) {
      const auto seconds = last_epoch_figure(epochs, stage.key);
      cells.push_back(seconds_cell(seconds));
      bar.parts.push_back(
          {fmt::format("{} {}", stage.name, cells.back().text), seconds.value_or(0), stage.style});
    }
    bar.label = duration_text(bar.total());
    picture.description += fmt::format(" {}: {}.", bar.name, bar.label);
    picture.data.rows.push_back(std::move(cells));
    chart.bars.push_back(std::move(bar));
  }
  set_unit(chart);
  picture.draw = [chart](double width) { return bar_chart(chart, width); };
  return picture;
}

}  // namespace slipstream
