#include "app/report/bar_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "app/report/row_chart.h"

namespace slipstream {
namespace {

constexpr double kBarHeight = 18, kNameHeight = 18, kRowHeight = 48, kTop = 6;
constexpr double kCut = 1;  // paper between two parts

void draw_range(Drawing& drawing, const Scale& x, const std::pair<double, double>& range, double middle) {
  const double low = x(range.first), high = x(range.second);
  drawing.line({low, middle}, {high, middle}, "range");
  for (const double end : {low, high}) drawing.line({end, middle - 5}, {end, middle + 5}, "range");
}

void draw_bar(Drawing& drawing, const Bar& bar, const Scale& x, double unit, double top) {
  const double label_width = text_width(bar.label);
  drawing.text({x.from(), top + 13}, shortened(bar.name, x.to() - x.from() - label_width - 12),
               Anchor::kStart, "name");
  drawing.text({x.to(), top + 13}, bar.label, Anchor::kEnd);
  double sum = 0;
  for (const BarPart& part : bar.parts) {
    const double from = x(sum / unit), to = x((sum + part.value) / unit);
    sum += part.value;
    if (to - from < 0.1) continue;
    const double cut = to - from > 3 * kCut ? kCut : 0;
    drawing.rect({from, top + kNameHeight}, to - from - cut, kBarHeight, "part " + part.style,
                 fmt::format("{}, {}", bar.name, part.name));
  }
  if (bar.range) {
    draw_range(drawing, x, {bar.range->first / unit, bar.range->second / unit},
               top + kNameHeight + kBarHeight / 2);
  }
}

}  // namespace

double Bar::total() const {
  return std::accumulate(parts.begin(), parts.end(), 0.0,
                         [](double sum, const BarPart& part) { return sum + part.value; });
}

Drawing bar_chart(const BarChart& chart, double width) {
  Axis axis{.title = chart.axis_title, .low = 0, .high = 0};
  for (const Bar& bar : chart.bars) {
    axis.high = std::max(axis.high, bar.total() / chart.unit);
    if (bar.range) axis.high = std::max(axis.high, bar.range->second / chart.unit);
  }
  return row_chart(rounded_out(axis, /*from_zero=*/true), {chart.bars.size(), kTop, kRowHeight}, width,
                   [&](Drawing& drawing, const Scale& x, size_t row, double top) {
                     draw_bar(drawing, chart.bars[row], x, chart.unit, top);
                   });
}

}  // namespace slipstream
