#pragma once

#include "pipeline/device.h"

namespace slipstream {

/// What an Event does on one kind of device.
class Event::Impl {
 public:
  virtual ~Impl() = default;
  virtual void record(c10::Stream stream) = 0;
  virtual bool passed() const = 0;
  virtual void wait_on_host() const = 0;
  virtual double seconds_to(const Impl& later) const = 0;
  virtual void block(c10::Stream waiting) const = 0;
};

/// The CUDA half of pipeline/device.h: device_cuda.cpp, or device_absent.cpp in a build without CUDA.
int cuda_device_count();
std::unique_ptr<Event::Impl> make_cuda_event(c10::Device device);
c10::Stream make_cuda_stream(c10::Device device, StreamPriority priority);
void synchronise_cuda(c10::Stream stream);
at::Tensor make_pinned_tensor(at::IntArrayRef sizes, at::ScalarType type);
int64_t peak_cuda_memory(c10::Device device);
void reset_peak_cuda_memory(c10::Device device);
int64_t reserved_cuda_memory(c10::Device device);

}  // namespace slipstream
