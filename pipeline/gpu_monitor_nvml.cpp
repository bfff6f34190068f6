#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <nvml.h>

#include <array>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "pipeline/gpu_monitor.h"

namespace slipstream {
namespace {

// The library comes with the driver and may be absent, so it is loaded when asked for. An older one lacks
// some of the functions.
class Nvml {
 public:
  Nvml() : library_(dlopen("libnvidia-ml.so.1", RTLD_NOW)) {
    if (library_ == nullptr) return;
    find(init_, "nvmlInit_v2");
    find(shutdown_, "nvmlShutdown");
    find(handle_, "nvmlDeviceGetHandleByPciBusId_v2");
    find(rates_, "nvmlDeviceGetUtilizationRates");
    find(jpeg_, "nvmlDeviceGetJpgUtilization");
    find(clock_, "nvmlDeviceGetClockInfo");
    find(top_clock_, "nvmlDeviceGetMaxClockInfo");
    find(power_, "nvmlDeviceGetPowerUsage");
    find(reasons_, "nvmlDeviceGetCurrentClocksThrottleReasons");
    usable_ = init_ != nullptr && shutdown_ != nullptr && handle_ != nullptr && init_() == NVML_SUCCESS;
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

  /// Now, or within the driver's last sampling period.
  GpuUse use(nvmlDevice_t device) const {
    GpuUse use;
    nvmlUtilization_t rates{};
    if (told(rates_, device, &rates)) use.kernels = rates.gpu / 100.0;
    unsigned percent = 0, period_us = 0;
    if (told(jpeg_, device, &percent, &period_us)) use.jpeg_engines = percent / 100.0;
    unsigned mhz = 0;
    if (told(clock_, device, NVML_CLOCK_SM, &mhz)) use.clock_mhz = mhz;
    if (told(top_clock_, device, NVML_CLOCK_SM, &mhz)) use.top_clock_mhz = mhz;
    unsigned milliwatts = 0;
    if (told(power_, device, &milliwatts)) use.power_w = milliwatts / 1e3;
    unsigned long long reasons = 0;
    if (told(reasons_, device, &reasons)) {
      use.power_limited = (reasons & nvmlClocksThrottleReasonSwPowerCap) != 0 ? 1 : 0;
    }
    return use;
  }

 private:
  template <typename Function>
  void find(Function& function, const char* name) const {
    function = reinterpret_cast<Function>(dlsym(library_, name));
  }

  template <typename Function, typename... Arguments>
  static bool told(Function function, Arguments... arguments) {
    return function != nullptr && function(arguments...) == NVML_SUCCESS;
  }

  void* library_;
  decltype(&nvmlInit_v2) init_ = nullptr;
  decltype(&nvmlShutdown) shutdown_ = nullptr;
  decltype(&nvmlDeviceGetHandleByPciBusId_v2) handle_ = nullptr;
  decltype(&nvmlDeviceGetUtilizationRates) rates_ = nullptr;
  decltype(&nvmlDeviceGetJpgUtilization) jpeg_ = nullptr;
  decltype(&nvmlDeviceGetClockInfo) clock_ = nullptr;
  decltype(&nvmlDeviceGetMaxClockInfo) top_clock_ = nullptr;
  decltype(&nvmlDeviceGetPowerUsage) power_ = nullptr;
  decltype(&nvmlDeviceGetCurrentClocksThrottleReasons) reasons_ = nullptr;
  bool usable_ = false;
};

/// Means of the samples that there are, figure by figure.
class Means {
 public:
  void add(const GpuUse& sample) {
    for (size_t i = 0; i < kFigures.size(); ++i) {
      const std::optional<double>& figure = sample.*kFigures[i];
      if (!figure) continue;
      sums_[i] += *figure;
      ++samples_[i];
    }
  }
  GpuUse values() const {
    GpuUse use;
    for (size_t i = 0; i < kFigures.size(); ++i) {
      if (samples_[i] > 0) use.*kFigures[i] = sums_[i] / samples_[i];
    }
    return use;
  }

 private:
  static constexpr std::array kFigures = {&GpuUse::kernels,   &GpuUse::jpeg_engines,
                                          &GpuUse::clock_mhz, &GpuUse::top_clock_mhz,
                                          &GpuUse::power_w,   &GpuUse::power_limited};
  std::array<double, kFigures.size()> sums_{};
  std::array<int, kFigures.size()> samples_{};
};

class NvmlMonitor : public GpuMonitor {
 public:
  NvmlMonitor(std::unique_ptr<Nvml> nvml, nvmlDevice_t device)
      : nvml_(std::move(nvml)),
        device_(device),
        thread_([this](const std::stop_token& stop) { sample(stop); }) {}

  void restart() override {
    const std::lock_guard lock(mutex_);
    means_ = {};
  }

  GpuUse use() const override {
    const std::lock_guard lock(mutex_);
    return means_.values();
  }

 private:
  void sample(const std::stop_token& stop) {
    constexpr std::chrono::milliseconds kPeriod(100);
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, stop, kPeriod, [&] { return stop.stop_requested(); })) {
      lock.unlock();
      const GpuUse now = nvml_->use(device_);
      lock.lock();
      means_.add(now);
    }
  }

  std::unique_ptr<Nvml> nvml_;
  nvmlDevice_t device_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  Means means_;
  std::jthread thread_;  // last: it ends first
};

}  // namespace

std::unique_ptr<GpuMonitor> make_gpu_monitor(c10::Device device) {
  if (!device.is_cuda()) return nullptr;
  auto nvml = std::make_unique<Nvml>();
  const auto handle = nvml->device(device.index());
  return handle ? std::make_unique<NvmlMonitor>(std::move(nvml), *handle) : nullptr;
}

}  // namespace slipstream
