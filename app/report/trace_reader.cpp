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

constexpr double kMicrosecond = 1e-6;

/// Takes events as the parser meets them, so that a large file is never a large tree of values.
class Events {
 public:
  /// False, so that the parser forgets it, if `value` was an event.
  bool take(const Json& value) {
    if (!value.is_object() || !value.contains("ph")) return true;
    const std::string phase = value.at("ph").get<std::string>();
    if (phase == "X") {
      add_span(value);
    } else if (phase == "M") {
      add_name(value);
    } else if (phase == "s" || phase == "t" || phase == "f") {
      add_flow_point(value);
    }
    return false;
  }

  TracedRun sorted() && {
    std::vector<size_t> order;
    for (size_t i = 0; i < tracks_.size(); ++i) {
      if (!tracks_[i].track.spans.empty()) order.push_back(i);
    }
    std::ranges::stable_sort(order, {}, [&](size_t i) { return tracks_[i].order; });
    TracedRun run;
    std::map<size_t, size_t> places;  // in the file, in the result
    for (const size_t i : order) {
      places.emplace(i, run.tracks.size());
      std::ranges::sort(tracks_[i].track.spans, [](const TracedSpan& a, const TracedSpan& b) {
        return std::pair(a.begin_s, -a.end_s) < std::pair(b.begin_s, -b.end_s);
      });
      run.tracks.push_back(std::move(tracks_[i].track));
    }
    run.flows = flows_on(places);
    return run;
  }

 private:
  using Key = std::pair<int64_t, int64_t>;  // process and thread
  struct Track {
    TracedTrack track;
    int64_t order = 0;
  };

  size_t place_of(const Json& event) {
    const Key key{event.value("pid", int64_t{0}), event.value("tid", int64_t{0})};
    const auto [found, is_new] = places_.emplace(key, tracks_.size());
    if (is_new) tracks_.push_back({.track = {.name = fmt::format("thread {}", key.second), .spans = {}}});
    return found->second;
  }
  Track& track_of(const Json& event) { return tracks_[place_of(event)]; }

  void add_span(const Json& event) {
    const double begin_s = event.at("ts").get<double>() * kMicrosecond;
    const double end_s = begin_s + event.at("dur").get<double>() * kMicrosecond;
    track_of(event).track.spans.push_back({begin_s, end_s, event.at("name").get<std::string>()});
  }

  /// Those with two points at least on tracks that are in the result; `places`: there, by that in the file.
  std::vector<Flow> flows_on(const std::map<size_t, size_t>& places) const {
    std::vector<Flow> flows;
    for (const auto& [id, points] : flows_) {
      Flow flow = moved(points, places);
      std::ranges::stable_sort(flow, {}, &FlowPoint::at_s);
      if (flow.size() > 1) flows.push_back(std::move(flow));
    }
    std::ranges::stable_sort(flows, {}, [](const auto& flow) { return flow.front().at_s; });
    return flows;
  }

  void add_flow_point(const Json& event) {
    flows_[event.at("id").get<int64_t>()].push_back(
        {place_of(event), event.at("ts").get<double>() * kMicrosecond});
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
  std::map<int64_t, Flow> flows_;  // by id, on tracks of the file
};

}  // namespace

Flow moved(const Flow& flow, const std::map<size_t, size_t>& places) {
  Flow result;
  for (const FlowPoint& point : flow) {
    if (const auto place = places.find(point.track); place != places.end())
      result.push_back({place->second, point.at_s});
  }
  return result;
}

TracedRun read_trace(const std::string& file) {
  std::ifstream text(file, std::ios::binary);
  if (!text) throw UsageError(fmt::format("Can't read {}.", file));
  Events events;
  const auto follow = [&events](int, Json::parse_event_t event, const Json& value) {
    return event != Json::parse_event_t::object_end || events.take(value);
  };
  try {
    [[maybe_unused]] const Json without_events = Json::parse(text, follow);
  } catch (const Json::exception& error) {
    throw UsageError(
        fmt::format("{}: no trace as train --trace writes it; remove the file to have a report "
                    "without. {}",
                    file, error.what()));
  }
  return std::move(events).sorted();
}

}  // namespace slipstream
