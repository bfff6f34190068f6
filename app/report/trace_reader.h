#pragma once

#include <cstdint>
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

/// The tracks of a file of Chrome trace events that have spans ("ph": "X"), in the order of their
/// thread_sort_index, else of their first events. Throws UsageError naming the file if it is none.
std::vector<TracedTrack> read_trace(const std::string& file);

}  // namespace slipstream
