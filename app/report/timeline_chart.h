#pragma once

#include <string>
#include <vector>

#include "app/report/drawing.h"
#include "app/report/trace_reader.h"

namespace slipstream {

struct TimelineSpan {
  double begin_s = 0, end_s = 0;
  std::string name;  ///< what a pointer over it shows, and inside where there is room
  std::string style;
};

struct TimelineTrack {
  std::string name;
  std::vector<TimelineSpan> spans;
};

/// What each track did when, from `begin_s`, which is the axis' zero, to `end_s`.
struct TimelineChart {
  double begin_s = 0, end_s = 1;
  std::vector<TimelineTrack> tracks;
  std::vector<Flow> arrows;  ///< in time's order; points beyond begin and end aren't drawn
};

Drawing timeline_chart(const TimelineChart& chart, double width);

}  // namespace slipstream
