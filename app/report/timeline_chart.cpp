#include "app/report/timeline_chart.h"

#include <algorithm>

#include "app/report/row_chart.h"
#include "app/report/scale.h"

namespace slipstream {
namespace {

constexpr double kTop = 4, kNameHeight = 17, kSpanHeight = 16, kStep = 40;

void draw_span(Drawing& drawing, const TimelineSpan& span, double from, double to, double top) {
  const std::string tip = span.name + ", " + duration_text(span.end_s - span.begin_s);
  // A span of less than a pixel is still seen; paper tells two neighbours apart.
  const double width = std::max(to - from - (to - from > 3 ? 1 : 0), 0.7);
  drawing.rect({from, top}, width, kSpanHeight, "part " + span.style, tip);
}

}  // namespace

Drawing timeline_chart(const TimelineChart& chart, double width) {
  const TimeUnit unit = time_unit(chart.end_s - chart.begin_s);
  const Axis axis{.title = std::string("time (") + unit.name + ")",
                  .low = 0,
                  .high = (chart.end_s - chart.begin_s) / unit.seconds};
  const auto draw_track = [&](Drawing& drawing, const Scale& across, size_t row, double top) {
    const TimelineTrack& track = chart.tracks[row];
    const Scale x(chart.begin_s, chart.end_s, across.from(), across.to());
    drawing.text({x.from(), top + 13}, shortened(track.name, x.to() - x.from()), Anchor::kStart, "name halo");
    for (const TimelineSpan& span : track.spans) {
      const double from = x(std::max(span.begin_s, chart.begin_s)), to = x(std::min(span.end_s, chart.end_s));
      if (span.end_s > chart.begin_s && span.begin_s < chart.end_s)
        draw_span(drawing, span, from, to, top + kNameHeight);
    }
  };
  return row_chart(axis, {chart.tracks.size(), kTop, kStep}, width, draw_track);
}

}  // namespace slipstream
