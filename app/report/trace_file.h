#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace slipstream {

struct TraceSpan {
  double begin_s = 0, end_s = 0;
  std::string name;
};

/// A thread or a stream.
struct TraceTrack {
  std::string name;
  std::vector<TraceSpan> spans;  ///< in time's order
};

/// The tracks of a file of Chrome trace events that have spans ("ph": "X"), in the order of their
/// thread_sort_index, else of their first events. Throws UsageError naming the file if it is none.
std::vector<TraceTrack> read_trace(const std::string& file);

}  // namespace slipstream
