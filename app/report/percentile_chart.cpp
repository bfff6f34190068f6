#include "app/report/percentile_chart.h"

#include <algorithm>

#include "app/report/row_chart.h"

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
  return row_chart(rounded_out(axis, /*from_zero=*/true), {chart.rows.size(), kTop, kRowHeight}, width,
                   [&](Drawing& drawing, const Scale& x, size_t row, double top) {
                     draw_row(drawing, chart.rows[row], x, chart.unit, top);
                   });
}

}  // namespace slipstream
