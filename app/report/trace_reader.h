#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace slipstream {

struct TracedSpan {
  double begin_s = 0, end_s = 0;
  std::string name;
};

/// A thread or a stream.
struct TracedTrack {
  std::string name;
  std::vector<TracedSpan> spans;  ///< in time's order, one that holds another before it
};

/// Where an arrow comes by: at this time on this of the tracks.
struct FlowPoint {
  size_t track = 0;
  double at_s = 0;
};
using Flow = std::vector<FlowPoint>;

/// The flow on other tracks, `places` by its own; without its points on tracks that have no place.
Flow moved(const Flow& flow, const std::map<size_t, size_t>& places);

struct TracedRun {
  std::vector<TracedTrack> tracks;
  std::vector<Flow> flows;  ///< each from its begin to its end, two points at least
};

/// What a file of Chrome trace events holds: the tracks that have spans ("ph": "X"), in the order of their
/// thread_sort_index, else of their first events; flows ("s", "t", "f") by their begin. Throws UsageError
/// naming the file if it is none.
TracedRun read_trace(const std::string& file);

}  // namespace slipstream
