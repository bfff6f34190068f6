#include "pipeline/device.h"

#include <ATen/ops/empty.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>

#include "data/error.h"
#include "pipeline/device_cuda.h"
#include "pipeline/host_clock.h"

namespace slipstream {
namespace {

class HostEvent : public Event::Impl {
 public:
  void record(c10::Stream) override { moment_ = std::chrono::steady_clock::now(); }
  bool passed() const override { return true; }
  void wait_on_host() const override {}
  double seconds_to(const Impl& later) const override {
    return std::chrono::duration<double>(static_cast<const HostEvent&>(later).moment_ - moment_).count();
  }
  void block(c10::Stream) const override {}

 private:
  std::chrono::steady_clock::time_point moment_;
};

}  // namespace

c10::Device parse_device(const std::string& name) {
  if (name == "cpu") return c10::kCPU;
  const int gpus = cuda_device_count();
  if (name == "auto") return gpus > 0 ? c10::Device(c10::kCUDA, 0) : c10::Device(c10::kCPU);
  int index = 0;
  if (name != "cuda" &&
      (std::sscanf(name.c_str(), "cuda:%d", &index) != 1 || fmt::format("cuda:{}", index) != name)) {
    throw UsageError(fmt::format("--device {}: no such device; it takes auto, cpu, cuda or cuda:N", name));
  }
  if (gpus < 0) {
    throw UsageError(fmt::format(
        "--device {}: this build has no CUDA; build the preset 'cuda' (./quickstart.sh --cuda)", name));
  }
  if (index < 0 || index >= gpus) {
    throw UsageError(fmt::format(
        "--device {}: this machine has {} CUDA devices; 'slipstream doctor' says more", name, gpus));
  }
  return {c10::kCUDA, static_cast<c10::DeviceIndex>(index)};
}

void configure_gpu_libraries() {
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", /*overwrite=*/0);
  setenv("CUDA_SCALE_LAUNCH_QUEUES", "4x", /*overwrite=*/0);
  setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", /*overwrite=*/0);
}

c10::Stream make_stream(c10::Device device, StreamPriority priority) {
  if (device.is_cuda()) return make_cuda_stream(device, priority);
  return c10::Stream(c10::Stream::DEFAULT, device);
}

void synchronise(c10::Stream stream) {
  if (stream.device().is_cuda()) synchronise_cuda(stream);
}

Event::Event(c10::Device device) {
  if (device.is_cuda()) {
    impl_ = make_cuda_event(device);
  } else {
    impl_ = std::make_unique<HostEvent>();
  }
}
Event::~Event() = default;
Event::Event(Event&&) noexcept = default;
Event& Event::operator=(Event&&) noexcept = default;

void Event::record(c10::Stream stream) { impl_->record(stream); }
bool Event::passed() const { return impl_->passed(); }
void Event::wait_on_host() const { impl_->wait_on_host(); }
double Event::seconds_to(const Event& later) const { return impl_->seconds_to(*later.impl_); }
void make_stream_wait(c10::Stream waiting, const Event& event) { event.impl_->block(waiting); }

double record_and_await(Event& event, c10::Stream stream) {
  event.record(stream);
  while (!event.passed()) {
  }
  return host_seconds();
}

at::Tensor make_host_tensor(at::IntArrayRef sizes, at::ScalarType type, bool pinned) {
  return pinned ? make_pinned_tensor(sizes, type) : at::empty(sizes, at::TensorOptions(type));
}

int64_t peak_device_memory(c10::Device device) { return device.is_cuda() ? peak_cuda_memory(device) : 0; }

void reset_peak_device_memory(c10::Device device) {
  if (device.is_cuda()) reset_peak_cuda_memory(device);
}

int64_t reserved_device_memory(c10::Device device) {
  return device.is_cuda() ? reserved_cuda_memory(device) : 0;
}

}  // namespace slipstream
