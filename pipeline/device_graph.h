#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace slipstream {

/// Work of a device that was recorded once and is queued again as a whole, by one call. It works on the
/// memory that it was recorded on: what is to differ from time to time is copied there before.
class DeviceGraph {
 public:
  virtual ~DeviceGraph() = default;

  /// Queues the work on the current stream; doesn't block.
  virtual void replay() = 0;

  /// Of device memory that its tensors occupy at most, at one time of its work; the allocator keeps some more
  /// for them.
  virtual int64_t bytes() const = 0;
};

/// Records what `work` queues on the current stream, one of the pool's; nothing of it runs. `work` has run
/// there before, so that libraries are set up and cuDNN has made its choices, and waits for nothing. Gives
/// the allocator's unused memory back first, which waits for the whole device: call it before any input is
/// under way. Throws Error that says why the work can't be recorded; the stream is usable afterwards.
std::unique_ptr<DeviceGraph> record_graph(const std::function<void()>& work);

}  // namespace slipstream
