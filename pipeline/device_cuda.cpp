#include "pipeline/device_cuda.h"

#include <ATen/cuda/CUDAEvent.h>
#include <ATen/ops/empty.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>

namespace slipstream {
namespace {

class CudaEvent : public Event::Impl {
 public:
  void record(c10::Stream stream) override { event_.record(c10::cuda::CUDAStream(stream)); }
  bool passed() const override { return event_.query(); }
  void wait_on_host() const override { event_.synchronize(); }
  double seconds_to(const Impl& later) const override {
    return event_.elapsed_time(static_cast<const CudaEvent&>(later).event_) / 1e3;
  }
  void block(c10::Stream waiting) const override {
    if (event_.isCreated()) const_cast<at::cuda::CUDAEvent&>(event_).block(c10::cuda::CUDAStream(waiting));
  }

 private:
  at::cuda::CUDAEvent event_{cudaEventBlockingSync};  // with timing; a host that waits sleeps
};

}  // namespace

int cuda_device_count() { return c10::cuda::device_count(); }

std::unique_ptr<Event::Impl> make_cuda_event(c10::Device) { return std::make_unique<CudaEvent>(); }

c10::Stream make_cuda_stream(c10::Device device, StreamPriority priority) {
  return c10::cuda::getStreamFromPool(priority == StreamPriority::kHigh, device.index()).unwrap();
}

void synchronise_cuda(c10::Stream stream) { c10::cuda::CUDAStream(stream).synchronize(); }

at::Tensor make_pinned_tensor(at::IntArrayRef sizes, at::ScalarType type) {
  return at::empty(sizes, at::TensorOptions(type).pinned_memory(true));
}

int64_t peak_cuda_memory(c10::Device device) {
  constexpr auto kAggregate = static_cast<size_t>(c10::CachingAllocator::StatType::AGGREGATE);
  return c10::cuda::CUDACachingAllocator::getDeviceStats(device.index()).allocated_bytes[kAggregate].peak;
}

int64_t reserved_cuda_memory(c10::Device device) {
  constexpr auto kAggregate = static_cast<size_t>(c10::CachingAllocator::StatType::AGGREGATE);
  return c10::cuda::CUDACachingAllocator::getDeviceStats(device.index()).reserved_bytes[kAggregate].current;
}

void reset_peak_cuda_memory(c10::Device device) {
  c10::cuda::CUDACachingAllocator::resetPeakStats(device.index());
}

}  // namespace slipstream
