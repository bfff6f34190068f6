#pragma once

#include <string>
#include <vector>

#include "app/report/drawing.h"

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

/// A point of an arrow, on the row of the track.
struct TimelinePoint {
  size_t track = 0;
  double at_s = 0;
};

/// What each track did when, from `begin_s`, which is the axis' zero, to `end_s`.
struct TimelineChart {
  double begin_s = 0, end_s = 1;
  std::vector<TimelineTrack> tracks;
  std::vector<std::vector<TimelinePoint>>
      arrows;  ///< in time's order; what lies before `begin_s` isn't drawn
};

Drawing timeline_chart(const TimelineChart& chart, double width);

}  // namespace slipstream
