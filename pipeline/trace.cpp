#include "pipeline/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "pipeline/batch.h"
#include "pipeline/host_clock.h"

namespace slipstream {
namespace {

constexpr size_t kMostSpans = 500'000;  // some 30 MB here, 80 MB as text: what a viewer still opens

}  // namespace

Trace::Trace(std::string name, const LoaderOptions& options, int64_t limit)
    : name_(std::move(name)),
      limit_(limit),
      threads_(options.schedule.threads),
      on_gpu_(options.compute.device().is_cuda()),
      workers_(options.workers),
      ring_(options.schedule.threads ? options.prefetch : 1),
      tracks_{"training thread"} {
  if (threads_) {
    for (int i = 1; i <= workers_; ++i) tracks_.push_back(fmt::format("worker {}", i));
    tracks_.emplace_back("stager");
  }
  if (on_gpu_) {
    // Where input and steps share a stream, input has rows of its own: its events may lie within a step.
    const bool own = options.schedule.copy_stream;
    tracks_.emplace_back(own ? "decode stream" : "compute stream: decode");
    tracks_.emplace_back(own ? "copy stream" : "compute stream: input");
  }
  tracks_.emplace_back("compute stream");
}

void Trace::add(const TraceSpan& span) {
  const std::lock_guard lock(mutex_);
  if (spans_.size() < kMostSpans) {
    spans_.push_back(span);
  } else {
    ++left_out_;
  }
}

void Trace::add_input(const InputTimes& times, int64_t batch, const Event& reference, double reference_s) {
  const auto moment = [&](const Event& event) { return reference_s - event.seconds_to(reference); };
  if (times.on_device) {
    add({TraceWork::kDeviceDecode, decode_stream(), moment(times.decode_begin), moment(times.decoded),
         batch});
  }
  const double copied_s = moment(times.copied);
  if (on_gpu_) add({TraceWork::kCopy, input_stream(), moment(times.begin), copied_s, batch});
  add({TraceWork::kFinish, input_stream(), copied_s, moment(times.resized), batch});
}

std::vector<TraceSpan> Trace::spans() const {
  std::vector<TraceSpan> sorted;
  {
    const std::lock_guard lock(mutex_);
    sorted = spans_;
  }
  // What begins with another and ends later encloses it.
  std::ranges::stable_sort(sorted, {},
                           [](const TraceSpan& span) { return std::pair(span.begin_s, -span.end_s); });
  return sorted;
}

int64_t Trace::left_out() const {
  const std::lock_guard lock(mutex_);
  return left_out_;
}

TraceScope::TraceScope(Trace* trace, TraceWork work, int track, int64_t batch)
    : trace_(trace), span_{work, track, trace == nullptr ? 0 : host_seconds(), 0, batch} {}

TraceScope::~TraceScope() {
  if (trace_ == nullptr) return;
  span_.end_s = host_seconds();
  trace_->add(span_);
}

}  // namespace slipstream
