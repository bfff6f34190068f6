#include "app/report/percentile_chart.h"

#include <algorithm>

#include "app/report/axes.h"

namespace slipstream {
namespace {

constexpr double kRowHeight = 46, kTop = 6, kLine = 31;  // the line's place in its row

void draw_row(Drawing& drawing, const PercentileRow& row, const Scale& x, double unit, double top) {
  const double width = x.to() - x.from();
  drawing.text({x.from(), top + 13}, shortened(row.name, width - text_width(row.label) - 12), Anchor::kStart,
               "name");
  drawing.text({x.to(), top + 13}, row.label, Anchor::kEnd);
  const double middle = top + kLine;
  const double p50 = x(row.p50 / unit), p95 = x(row.p95 / unit), p99 = x(row.p99 / unit);
  const double longest = x(row.longest / unit);
  drawing.line({p50, middle}, {longest, middle}, "whisker");
  drawing.rect({p50, middle - 4}, p95 - p50, 8, "part s1", "from the median to the 95th percentile");
  drawing.line({p99, middle - 8}, {p99, middle + 8}, "range");
  drawing.dot({p50, middle}, 6, "mark s1", "median");
  drawing.dot({longest, middle}, 4, "open", "the longest");
}

}  // namespace

Drawing percentile_chart(const PercentileChart& chart, double width) {
  Axis axis{.title = chart.axis_title, .low = 0, .high = 0};
  for (const PercentileRow& row : chart.rows) axis.high = std::max(axis.high, row.longest / chart.unit);
  axis = rounded_out(axis, /*from_zero=*/true);
  const double bottom = kTop + kRowHeight * static_cast<double>(chart.rows.size());
  const Plot plot{.left = 1, .top = kTop, .right = width - 8, .bottom = bottom};
  Drawing drawing(width, bottom + kXAxisHeight);
  draw_x_axis(drawing, plot, axis);
  double top = kTop;
  for (const PercentileRow& row : chart.rows) {
    draw_row(drawing, row, plot.x(axis), chart.unit, top);
    top += kRowHeight;
  }
  drawing.line({plot.left, plot.top}, {plot.left, plot.bottom}, "axis");
  return drawing;
}

}  // namespace slipstream
