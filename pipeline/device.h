#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Stream.h>

#include <cstdint>
#include <memory>
#include <string>

namespace slipstream {

/// "auto" (the first GPU if this build and machine have one, else the CPU), "cpu", "cuda" or "cuda:N".
/// Throws UsageError that says what is missing.
c10::Device parse_device(const std::string& name);

/// Sets what the GPU's libraries read from the environment when they start, unless it is set already. Call it
/// before anything else of theirs, while the process has one thread.
///
/// CUDA's streams share 8 connections to the device unless told otherwise, and work on one waits for all that
/// was queued before it, whichever its stream: nvJPEG's 14 internal streams would stand behind the step's
/// kernels. Its launch queue is made four times as long; RunAhead says why. cuBLAS is deterministic only with
/// a workspace of its own.
void configure_gpu_libraries();

/// Whose kernels start first when both are ready.
enum class StreamPriority { kNormal, kHigh };

/// A stream of the device's pool. On the CPU the only stream, on which work runs at once.
c10::Stream make_stream(c10::Device device, StreamPriority priority);

/// Blocks the calling thread until all that was queued on `stream` is done.
void synchronise(c10::Stream stream);

/// A point in a stream's work, with its time. Movable, not copyable. On the CPU, where work runs at once,
/// it is the moment of the call.
class Event {
 public:
  explicit Event(c10::Device device);
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  Event(Event&&) noexcept;
  Event& operator=(Event&&) noexcept;

  /// Queues the point; doesn't block. An event may be recorded again.
  void record(c10::Stream stream);

  /// Whether the work before the point is done; true if never recorded. Doesn't block.
  bool passed() const;

  /// Blocks the calling thread until then.
  void wait_on_host() const;

  /// Seconds from this point to `later`; both must be recorded and passed. Negative if it came first.
  double seconds_to(const Event& later) const;

  class Impl;

 private:
  friend void make_stream_wait(c10::Stream, const Event&);
  std::unique_ptr<Impl> impl_;
};

/// Work queued on `waiting` from now on begins after `event`, if that was ever recorded. Doesn't block.
void make_stream_wait(c10::Stream waiting, const Event& event);

/// Records the event on the stream and returns when it passed, by host_seconds(): what fits the device's
/// clock to the host's. The calling thread asks until then; one that slept would wake some 50 us late.
double record_and_await(Event& event, c10::Stream stream);

/// A host tensor; `pinned` memory is needed for copies that run beside computation (CUDA only).
at::Tensor make_host_tensor(at::IntArrayRef sizes, at::ScalarType type, bool pinned);

/// The most bytes of device memory that tensors occupied since the last reset; 0 on the CPU.
int64_t peak_device_memory(c10::Device device);
void reset_peak_device_memory(c10::Device device);

/// The bytes that LibTorch's allocator holds on the device, in use or kept for reuse; 0 on the CPU.
int64_t reserved_device_memory(c10::Device device);

}  // namespace slipstream
