#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <nvml.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "pipeline/gpu_monitor.h"

namespace slipstream {
namespace {

// The library comes with the driver and may be absent, so it is loaded when asked for.
class Nvml {
 public:
  Nvml() : library_(dlopen("libnvidia-ml.so.1", RTLD_NOW)) {
    if (library_ == nullptr) return;
    init_ = find<decltype(&nvmlInit_v2)>("nvmlInit_v2");
    shutdown_ = find<decltype(&nvmlShutdown)>("nvmlShutdown");
    handle_ = find<decltype(&nvmlDeviceGetHandleByPciBusId_v2)>("nvmlDeviceGetHandleByPciBusId_v2");
    rates_ = find<decltype(&nvmlDeviceGetUtilizationRates)>("nvmlDeviceGetUtilizationRates");
    jpeg_ = find<decltype(&nvmlDeviceGetJpgUtilization)>("nvmlDeviceGetJpgUtilization");
    usable_ = init_ != nullptr && shutdown_ != nullptr && handle_ != nullptr && rates_ != nullptr &&
              init_() == NVML_SUCCESS;
  }
  ~Nvml() {
    if (usable_) shutdown_();
    if (library_ != nullptr) dlclose(library_);
  }
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  /// By bus address: NVML doesn't know CUDA_VISIBLE_DEVICES.
  std::optional<nvmlDevice_t> device(int cuda_index) const {
    char address[32] = {};
    nvmlDevice_t device = nullptr;
    if (!usable_ || cudaDeviceGetPCIBusId(address, sizeof(address), cuda_index) != cudaSuccess ||
        handle_(address, &device) != NVML_SUCCESS) {
      return std::nullopt;
    }
    return device;
  }

  /// An older driver's library has no meter for the JPEG engines.
  bool has(GpuMeter meter) const { return meter == GpuMeter::kKernels || jpeg_ != nullptr; }

  std::optional<double> utilisation(nvmlDevice_t device, GpuMeter meter) const {
    return meter == GpuMeter::kKernels ? kernels(device) : jpeg_engines(device);
  }

 private:
  std::optional<double> kernels(nvmlDevice_t device) const {
    nvmlUtilization_t rates{};
    if (rates_(device, &rates) != NVML_SUCCESS) return std::nullopt;
    return rates.gpu / 100.0;
  }

  std::optional<double> jpeg_engines(nvmlDevice_t device) const {
    unsigned percent = 0;
    unsigned period_us = 0;
    if (jpeg_(device, &percent, &period_us) != NVML_SUCCESS) return std::nullopt;
    return percent / 100.0;
  }

  template <typename Function>
  Function find(const char* name) const {
    return reinterpret_cast<Function>(dlsym(library_, name));
  }

  void* library_;
  decltype(&nvmlInit_v2) init_ = nullptr;
  decltype(&nvmlShutdown) shutdown_ = nullptr;
  decltype(&nvmlDeviceGetHandleByPciBusId_v2) handle_ = nullptr;
  decltype(&nvmlDeviceGetUtilizationRates) rates_ = nullptr;
  decltype(&nvmlDeviceGetJpgUtilization) jpeg_ = nullptr;
  bool usable_ = false;
};

class NvmlMonitor : public GpuMonitor {
 public:
  NvmlMonitor(std::unique_ptr<Nvml> nvml, nvmlDevice_t device, GpuMeter meter)
      : nvml_(std::move(nvml)),
        device_(device),
        meter_(meter),
        thread_([this](const std::stop_token& stop) { sample(stop); }) {}

  void restart() override {
    const std::lock_guard lock(mutex_);
    sum_ = 0;
    samples_ = 0;
  }

  std::optional<double> mean_utilisation() const override {
    const std::lock_guard lock(mutex_);
    return samples_ > 0 ? std::optional(sum_ / samples_) : std::nullopt;
  }

 private:
  void sample(const std::stop_token& stop) {
    constexpr std::chrono::milliseconds kPeriod(100);
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, stop, kPeriod, [&] { return stop.stop_requested(); })) {
      lock.unlock();
      const auto utilisation = nvml_->utilisation(device_, meter_);
      lock.lock();
      if (!utilisation) continue;
      sum_ += *utilisation;
      ++samples_;
    }
  }

  std::unique_ptr<Nvml> nvml_;
  nvmlDevice_t device_;
  GpuMeter meter_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  double sum_ = 0;
  int samples_ = 0;
  std::jthread thread_;  // last: it ends first
};

}  // namespace

std::unique_ptr<GpuMonitor> make_gpu_monitor(c10::Device device, GpuMeter meter) {
  if (!device.is_cuda()) return nullptr;
  auto nvml = std::make_unique<Nvml>();
  const auto handle = nvml->device(device.index());
  if (!handle || !nvml->has(meter)) return nullptr;
  return std::make_unique<NvmlMonitor>(std::move(nvml), *handle, meter);
}

}  // namespace slipstream
