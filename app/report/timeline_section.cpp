#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>

#include "app/report/cells.h"
#include "app/report/scale.h"
#include "app/report/sections.h"
#include "app/report/stage_styles.h"
#include "app/report/timeline_chart.h"
#include "app/report/trace_reader.h"
#include "app/units.h"

namespace slipstream {
namespace {

constexpr size_t kSteps = 6;        // drawn
constexpr size_t kMostTracks = 16;  // beyond them a picture is no help
constexpr size_t kMostSpans = 600;  // of one track, the longest: others are less than a pixel

/// The track whose spans are the steps, be it the device's or, where it trains, a thread's; else the one that
/// ends last.
const TracedTrack& step_track(const std::vector<TracedTrack>& tracks) {
  const auto has_steps = [](const TracedTrack& track) {
    return std::ranges::any_of(track.spans,
                               [](const TracedSpan& span) { return span.name.starts_with("step"); });
  };
  const auto found = std::ranges::find_if(tracks, has_steps);
  if (found != tracks.end()) return *found;
  return *std::ranges::max_element(tracks, {},
                                   [](const TracedTrack& track) { return track.spans.back().end_s; });
}

bool is_wait(const TracedSpan& span) { return span.name.find("wait") != std::string::npos; }

struct Window {
  double begin_s = 0, end_s = 0;
  bool skips_first = false;
};

/// The first steps but one, which warms up, where there are enough.
Window first_steps(const std::vector<TracedSpan>& spans) {
  std::vector<TracedSpan> steps;
  std::ranges::copy_if(spans, std::back_inserter(steps),
                       [](const TracedSpan& span) { return span.name.starts_with("step"); });
  if (steps.empty()) steps = spans;
  Window window;
  window.skips_first = steps.size() > kSteps;
  const size_t first = window.skips_first ? 1 : 0;
  const size_t last = std::min(first + kSteps, steps.size()) - 1;
  window.begin_s = window.skips_first ? steps[0].end_s : steps[0].begin_s;
  window.end_s = steps[last].end_s;
  return window;
}

/// "decode" of "decode 17", "worker" of "worker 3": what is alike is told apart by a number.
std::string kind_of(const std::string& name) {
  const size_t end = name.find_last_not_of("0123456789 #:");
  return end == std::string::npos ? name : name.substr(0, end + 1);
}

/// Of `tracks`, which are indices into `all`, those to draw: where they are too many, the last of the most
/// numerous kind are left out, so that fifteen readers don't hide the stream that they feed.
std::vector<size_t> to_draw(std::vector<size_t> tracks, const std::vector<TracedTrack>& all) {
  const auto kind = [&](size_t track) { return kind_of(all[track].name); };
  while (tracks.size() > kMostTracks) {
    std::map<std::string, size_t> members;
    for (const size_t track : tracks) ++members[kind(track)];
    const size_t most = std::ranges::max_element(members, {}, &decltype(members)::value_type::second)->second;
    const auto last = std::find_if(tracks.rbegin(), tracks.rend(),
                                   [&](size_t track) { return members[kind(track)] == most; });
    tracks.erase(std::next(last).base());
  }
  return tracks;
}

/// The colours of the kinds of spans that are met, and their legend.
class Kinds {
 public:
  std::string style(const std::string& name) {
    const std::string kind = kind_of(name);
    const auto [found, is_new] = styles_.emplace(kind, span_style(kind, styles_.size()));
    if (is_new) add_to_legend(kind, found->second);
    return found->second;
  }
  const std::vector<LegendEntry>& legend() const { return legend_; }

 private:
  /// Kinds of one colour share an entry: "resize, resize and normalise".
  void add_to_legend(const std::string& kind, const std::string& style) {
    const auto entry = std::ranges::find(legend_, style, &LegendEntry::style);
    if (entry == legend_.end()) {
      legend_.push_back({kind, style});
    } else {
      entry->name += ", " + kind;
    }
  }

  std::map<std::string, std::string> styles_;
  std::vector<LegendEntry> legend_;
};

std::vector<TracedSpan> spans_within(const TracedTrack& track, const Window& window) {
  std::vector<TracedSpan> spans;
  std::ranges::copy_if(track.spans, std::back_inserter(spans), [&](const TracedSpan& span) {
    return span.end_s > window.begin_s && span.begin_s < window.end_s;
  });
  return spans;
}

/// Seconds that a span must last to be among the kMostSpans longest.
double shortest_drawn(const std::vector<TracedSpan>& spans) {
  if (spans.size() <= kMostSpans) return 0;
  std::vector<double> lengths;
  for (const TracedSpan& span : spans) lengths.push_back(span.end_s - span.begin_s);
  std::ranges::nth_element(lengths, lengths.begin() + kMostSpans - 1, std::greater<>());
  return lengths[kMostSpans - 1];
}

/// The seconds of the window in which the track was at work, not waiting.
double busy_seconds(const TracedTrack& track, const Window& window) {
  double busy = 0, until = window.begin_s;
  for (const TracedSpan& span : track.spans) {
    if (is_wait(span)) continue;
    const double begin = std::max(span.begin_s, until), end = std::min(span.end_s, window.end_s);
    if (end > begin) busy += end - begin;
    until = std::max(until, end);
  }
  return busy;
}

/// The ways of the batches whose steps begin in the window, on the rows that are drawn; `rows`: by track.
std::vector<Flow> arrows_of(const TracedRun& traced, const Window& window,
                            const std::map<size_t, size_t>& rows) {
  std::vector<Flow> arrows;
  for (const Flow& flow : traced.flows) {
    if (flow.back().at_s < window.begin_s || flow.back().at_s > window.end_s) continue;
    arrows.push_back(moved(flow, rows));
  }
  return arrows;
}

TimelineTrack drawn_track(const TracedTrack& track, const Window& window, Kinds& kinds) {
  const std::vector<TracedSpan> spans = spans_within(track, window);
  const double least_s = shortest_drawn(spans);
  TimelineTrack drawn{.name = track.name, .spans = {}};
  for (const TracedSpan& span : spans) {
    if (span.end_s - span.begin_s < least_s) continue;
    drawn.spans.push_back({span.begin_s, span.end_s, span.name, kinds.style(span.name)});
  }
  return drawn;
}

Picture timeline_of(const ReportRun& run, const TracedRun& traced) {
  const std::vector<TracedTrack>& tracks = traced.tracks;
  const Window window = first_steps(step_track(tracks).spans);
  const std::string title = fmt::format("{}: first steps", run.name);
  Picture picture{.title = title,
                  .description = fmt::format("A row for each thread and stream over {}.",
                                             duration_text(window.end_s - window.begin_s)),
                  .draw = {},
                  .legend = {},
                  .note = window.skips_first ? "Without the first step, which warms up." : "",
                  .data = {.caption = title,
                           .columns = {{"track"}, {"spans", true}, {"busy", true}, {"of the time", true}},
                           .rows = {}}};
  std::vector<size_t> seen;
  for (size_t i = 0; i < tracks.size(); ++i) {
    const size_t spans = spans_within(tracks[i], window).size();
    if (spans == 0) continue;
    seen.push_back(i);
    const double busy = busy_seconds(tracks[i], window);
    const double share = busy / (window.end_s - window.begin_s);
    picture.data.rows.push_back({text_cell(tracks[i].name),
                                 {.text = fmt::format("{}", spans), .value = static_cast<double>(spans)},
                                 seconds_cell(busy),
                                 share_cell(share)});
    picture.description += fmt::format(" {} is busy {} of it.", tracks[i].name, share_text(share));
  }
  TimelineChart chart{.begin_s = window.begin_s, .end_s = window.end_s, .tracks = {}, .arrows = {}};
  std::map<size_t, size_t> rows;  // of the chart, by track
  Kinds kinds;
  for (const size_t i : to_draw(seen, tracks)) {
    rows.emplace(i, chart.tracks.size());
    chart.tracks.push_back(drawn_track(tracks[i], window, kinds));
  }
  chart.arrows = arrows_of(traced, window, rows);
  if (!chart.arrows.empty()) {
    picture.description += " Arrows follow batches from their first sample's read to their step.";
  }
  picture.legend = kinds.legend();
  if (picture.data.rows.size() > chart.tracks.size()) {
    picture.note += fmt::format(" {} more tracks are in the table alone.",
                                picture.data.rows.size() - chart.tracks.size());
  }
  picture.draw = [chart](double width) { return timeline_chart(chart, width); };
  return picture;
}

}  // namespace

Section timeline_section(const std::vector<DrawnRun>& runs) {
  Section section{.title = "Timeline", .blocks = {}};
  for (const DrawnRun& drawn : runs) {
    const std::string file = drawn.run->folder + "/trace.json";
    if (!std::filesystem::exists(file)) continue;
    const TracedRun traced = read_trace(file);
    if (!traced.tracks.empty()) section.blocks.emplace_back(timeline_of(*drawn.run, traced));
  }
  return section;
}

}  // namespace slipstream
