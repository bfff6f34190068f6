#include "app/report/trace_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <utility>

#include "app/json.h"
#include "data/error.h"

namespace slipstream {
namespace {

/// Takes events as the parser meets them, so that a large file is never a large tree of values.
class Tracks {
 public:
  /// False, so that the parser forgets it, if `value` was an event.
  bool take(const Json& value) {
    if (!value.is_object() || !value.contains("ph")) return true;
    const std::string phase = value.at("ph").get<std::string>();
    if (phase == "X") {
      add_span(value);
    } else if (phase == "M") {
      add_name(value);
    }
    return false;
  }

  std::vector<TracedTrack> sorted() && {
    std::stable_sort(tracks_.begin(), tracks_.end(),
                     [](const Track& a, const Track& b) { return a.order < b.order; });
    std::vector<TracedTrack> result;
    for (Track& track : tracks_) {
      if (track.track.spans.empty()) continue;
      std::ranges::sort(track.track.spans, [](const TracedSpan& a, const TracedSpan& b) {
        return std::pair(a.begin_s, -a.end_s) < std::pair(b.begin_s, -b.end_s);
      });
      result.push_back(std::move(track.track));
    }
    return result;
  }

 private:
  using Key = std::pair<int64_t, int64_t>;  // process and thread
  struct Track {
    TracedTrack track;
    int64_t order = 0;
  };

  Track& track_of(const Json& event) {
    const Key key{event.value("pid", int64_t{0}), event.value("tid", int64_t{0})};
    const auto [found, is_new] = places_.emplace(key, tracks_.size());
    if (is_new) tracks_.push_back({.track = {.name = fmt::format("thread {}", key.second), .spans = {}}});
    return tracks_[found->second];
  }

  void add_span(const Json& event) {
    constexpr double kMicrosecond = 1e-6;
    const double begin_s = event.at("ts").get<double>() * kMicrosecond;
    const double end_s = begin_s + event.at("dur").get<double>() * kMicrosecond;
    track_of(event).track.spans.push_back({begin_s, end_s, event.at("name").get<std::string>()});
  }

  void add_name(const Json& event) {
    const std::string what = event.value("name", "");
    if (what == "thread_name") track_of(event).track.name = event.at("args").at("name").get<std::string>();
    if (what == "thread_sort_index") {
      track_of(event).order = event.at("args").at("sort_index").get<int64_t>();
    }
  }

  std::vector<Track> tracks_;
  std::map<Key, size_t> places_;
};

}  // namespace

std::vector<TracedTrack> read_trace(const std::string& file) {
  std::ifstream text(file, std::ios::binary);
  if (!text) throw UsageError(fmt::format("Can't read {}.", file));
  Tracks tracks;
  const auto follow = [&tracks](int, Json::parse_event_t event, const Json& value) {
    return event != Json::parse_event_t::object_end || tracks.take(value);
  };
  try {
    [[maybe_unused]] const Json without_events = Json::parse(text, follow);
  } catch (const Json::exception& error) {
    throw UsageError(
        fmt::format("{}: no trace as train --trace writes it; remove the file to have a report "
                    "without. {}",
                    file, error.what()));
  }
  return std::move(tracks).sorted();
}

}  // namespace slipstream
