#include "app/trace_file.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <map>
#include <set>

#include "app/json.h"
#include "data/file_io.h"

namespace slipstream {
namespace {

struct WorkName {
  const char* name;
  const char* category;
};

WorkName name_of(TraceWork work, bool on_gpu) {
  switch (work) {
    case TraceWork::kWaitForInput:
      return {"wait for input", "host"};
    case TraceWork::kRead:
      return {"read", "host"};
    case TraceWork::kDecode:
      return {"decode", "host"};
    case TraceWork::kResize:
      return {"resize", "host"};
    case TraceWork::kStage:
      return {"stage", "host"};
    case TraceWork::kQueueStep:
      return {on_gpu ? "queue step" : "run step", "host"};
    case TraceWork::kWaitForDevice:
      return {"wait for device", "host"};
    case TraceWork::kDeviceDecode:
      return {"decode", "device"};
    case TraceWork::kCopy:
      return {"copy", "device"};
    case TraceWork::kFinish:
      return {on_gpu ? "resize and normalise" : "normalise", "device"};
    case TraceWork::kStep:
      break;
  }
  return {"step", "device"};
}

std::string quoted(const std::string& text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// A batch's way: the first span of each of these that there is, in this order.
constexpr TraceWork kWay[] = {TraceWork::kRead, TraceWork::kStage, TraceWork::kCopy, TraceWork::kFinish,
                              TraceWork::kStep};
constexpr int kWayPoints = static_cast<int>(std::size(kWay));
/// Where it ends if nothing trains on it, as in `bench input`.
constexpr int kHandOver = kWayPoints;

using Way = std::map<int, const TraceSpan*>;  // by position in kWay

void add_to_way(Way& way, const TraceSpan& span) {
  if (span.work == TraceWork::kWaitForInput) way.emplace(kHandOver, &span);
  for (int at = 0; at < kWayPoints; ++at) {
    if (kWay[at] == span.work) way.emplace(at, &span);
  }
}

class TraceWriter {
 public:
  void add(const Trace& trace);
  std::string finish() &&;

 private:
  void begin_event() {
    text_ += first_ ? "\n" : ",\n";
    first_ = false;
  }
  void add_names(const Trace& trace, const std::vector<TraceSpan>& spans);
  void add_span(const Trace& trace, const TraceSpan& span);
  void add_flow(int64_t batch, const Way& way);
  /// Nanoseconds since the trace began. Spans are cut to these before they become text, so that what lay
  /// within another still does.
  int64_t moment(double seconds) const { return std::llround((seconds - begin_s_) * 1e9); }

  /// Within the span; a hand-over is at the end of the wait for it.
  int64_t flow_moment(const TraceSpan& span) const {
    return span.work == TraceWork::kWaitForInput ? moment(span.end_s) - 1 : moment(span.begin_s);
  }

  std::string text_ = R"({"displayTimeUnit":"ms","traceEvents":[)";
  bool first_ = true;
  int process_ = 0;
  double begin_s_ = 0;
};

/// Trace events count microseconds.
std::string micros(int64_t nanoseconds) {
  return fmt::format("{:.3f}", static_cast<double>(nanoseconds) / 1e3);
}

void TraceWriter::add(const Trace& trace) {
  ++process_;
  const std::vector<TraceSpan> spans = trace.spans();
  begin_s_ = spans.empty() ? 0 : spans.front().begin_s;
  add_names(trace, spans);
  std::map<int64_t, Way> ways;
  for (const TraceSpan& span : spans) {
    add_span(trace, span);
    add_to_way(ways[span.batch], span);
  }
  for (const auto& [batch, way] : ways) add_flow(batch, way);
}

void TraceWriter::add_names(const Trace& trace, const std::vector<TraceSpan>& spans) {
  begin_event();
  fmt::format_to(std::back_inserter(text_),
                 R"({{"name":"process_name","ph":"M","pid":{},"args":{{"name":{}}}}})", process_,
                 quoted("slipstream: " + trace.name()));
  std::set<int> used;
  for (const TraceSpan& span : spans) used.insert(span.track);
  for (const int track : used) {
    begin_event();
    fmt::format_to(
        std::back_inserter(text_),
        R"({{"name":"thread_name","ph":"M","pid":{0},"tid":{1},"args":{{"name":"{2}"}}}},)"
        "\n"
        R"({{"name":"thread_sort_index","ph":"M","pid":{0},"tid":{1},"args":{{"sort_index":{1}}}}})",
        process_, track, trace.tracks().at(static_cast<size_t>(track)));
  }
}

void TraceWriter::add_span(const Trace& trace, const TraceSpan& span) {
  const WorkName work = name_of(span.work, trace.is_on_gpu());
  const int64_t begin = moment(span.begin_s);
  begin_event();
  fmt::format_to(
      std::back_inserter(text_),
      R"({{"name":"{}","cat":"{}","ph":"X","pid":{},"tid":{},"ts":{},"dur":{},"args":{{"batch":{},"slot":{})",
      work.name, work.category, process_, span.track, micros(begin), micros(moment(span.end_s) - begin),
      span.batch + 1, trace.slot_of(span.batch));
  if (span.file != nullptr) text_ += ",\"file\":" + quoted(*span.file);
  text_ += "}}";
}

void TraceWriter::add_flow(int64_t batch, const Way& way) {
  const bool trained = way.contains(kWayPoints - 1);
  std::vector<const TraceSpan*> points;
  for (const auto& [at, span] : way) {
    if (at != kHandOver || !trained) points.push_back(span);
  }
  if (points.size() < 2) return;
  for (size_t i = 0; i < points.size(); ++i) {
    const char* phase = i == 0 ? "s" : i + 1 == points.size() ? "f" : "t";
    begin_event();
    fmt::format_to(std::back_inserter(text_),
                   R"({{"name":"batch","cat":"batch","ph":"{}"{},"id":{},"pid":{},"tid":{},"ts":{}}})", phase,
                   i + 1 == points.size() ? R"(,"bp":"e")" : "", process_ * 1'000'000'000LL + batch + 1,
                   process_, points[i]->track, micros(flow_moment(*points[i])));
  }
}

std::string TraceWriter::finish() && {
  text_ += "\n]}\n";
  return std::move(text_);
}

}  // namespace

std::string trace_text(const std::vector<const Trace*>& traces) {
  TraceWriter writer;
  for (const Trace* trace : traces) writer.add(*trace);
  return std::move(writer).finish();
}

void write_trace(const std::string& path, const std::vector<const Trace*>& traces) {
  write_file_atomically(path, trace_text(traces));
}

}  // namespace slipstream
