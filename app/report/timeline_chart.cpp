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

// From span to span, each from its row's middle, and into the last one's begin.
void draw_arrow(Drawing& drawing, const std::vector<Point>& points) {
  constexpr double kHead = 5;
  drawing.path(points, "line flow");
  for (const Point& point : points) drawing.dot(point, 1.8, "flow");
  const Point tip = points.back();
  drawing.path({{tip.x - kHead, tip.y - kHead}, tip, {tip.x - kHead, tip.y + kHead}}, "line flow");
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
  const auto draw_arrows = [&](Drawing& drawing, const Scale& across) {
    const Scale x(chart.begin_s, chart.end_s, across.from(), across.to());
    for (const Flow& arrow : chart.arrows) {
      std::vector<Point> points;
      for (const FlowPoint& point : arrow) {
        const double top = kTop + kStep * static_cast<double>(point.track);
        if (point.at_s >= chart.begin_s && point.at_s <= chart.end_s)
          points.push_back({x(point.at_s), top + kNameHeight + kSpanHeight / 2});
      }
      if (points.size() > 1) draw_arrow(drawing, points);
    }
  };
  return row_chart(axis, {chart.tracks.size(), kTop, kStep}, width, draw_track, draw_arrows);
}

}  // namespace slipstream
