#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <nvjpeg.h>

#include <array>
#include <filesystem>
#include <memory>
#include <sstream>

#include "app/doctor_gpu.h"

namespace slipstream {
namespace {

struct CloseLibrary {
  void operator()(void* library) const { dlclose(library); }
};
using Library = std::unique_ptr<void, CloseLibrary>;

/// A function of a library that may not be installed; null if it isn't.
template <typename Function>
Function* symbol(const Library& library, const char* name) {
  return library ? reinterpret_cast<Function*>(dlsym(library.get(), name)) : nullptr;
}

/// 13000 -> "13.0", as CUDA numbers its versions.
std::string cuda_version(int number) { return fmt::format("{}.{}", number / 1000, number % 1000 / 10); }

std::string nvjpeg_version() {
  int major = 0, minor = 0, patch = 0;
  nvjpegGetProperty(MAJOR_VERSION, &major);
  nvjpegGetProperty(MINOR_VERSION, &minor);
  nvjpegGetProperty(PATCH_LEVEL, &patch);
  return fmt::format("{}.{}.{}", major, minor, patch);
}

/// LibTorch brings cuDNN; its headers are not needed for one number.
std::string cudnn_version() {
  const Library cudnn(dlopen("libcudnn.so.9", RTLD_LAZY));
  const auto version = symbol<size_t()>(cudnn, "cudnnGetVersion");
  if (version == nullptr) return "not found";
  const size_t number = version();
  return fmt::format("{}.{}.{}", number / 10000, number / 100 % 100, number % 100);
}

/// The driver's own number ("580.65.06"), from NVML, which comes with the driver.
std::string driver_version() {
  const Library nvml(dlopen("libnvidia-ml.so.1", RTLD_LAZY));
  const auto init = symbol<int()>(nvml, "nvmlInit_v2");
  const auto version = symbol<int(char*, unsigned)>(nvml, "nvmlSystemGetDriverVersion");
  const auto shutdown = symbol<int()>(nvml, "nvmlShutdown");
  if (init == nullptr || version == nullptr || shutdown == nullptr || init() != 0) return {};
  std::array<char, 96> text{};
  const bool known = version(text.data(), static_cast<unsigned>(text.size())) == 0;
  shutdown();
  return known ? text.data() : "";
}

/// The JPEG engines of the current GPU; empty if it has some and doesn't say how many.
std::optional<int64_t> jpeg_engines() {
  nvjpegHandle_t handle = nullptr;
  if (nvjpegCreateEx(NVJPEG_BACKEND_HARDWARE, nullptr, nullptr, 0, &handle) != NVJPEG_STATUS_SUCCESS)
    return 0;
  unsigned engines = 0, cores_per_engine = 0;
  const nvjpegStatus_t status = nvjpegGetHardwareDecoderInfo(handle, &engines, &cores_per_engine);
  nvjpegDestroy(handle);
  if (status != NVJPEG_STATUS_SUCCESS) return std::nullopt;
  return engines;
}

}  // namespace

GpuSupport gpu_support() {
  GpuSupport support;
  support.cuda = true;
  support.libraries = {{"CUDA toolkit", cuda_version(CUDART_VERSION)},
                       {"cuDNN", cudnn_version()},
                       {"nvJPEG", nvjpeg_version()},
                       {"architectures", SLIPSTREAM_CUDA_ARCHITECTURES}};
  std::istringstream list(SLIPSTREAM_CUDA_ARCHITECTURES);
  for (int architecture = 0; list >> architecture;) support.architectures.push_back(architecture);
  return support;
}

GpuMachine gpu_machine() {
  GpuMachine machine;
  std::error_code ignored;
  machine.device_file = std::filesystem::exists("/dev/nvidia0", ignored);
  machine.driver = driver_version();
  int count = 0;
  if (const cudaError_t error = cudaGetDeviceCount(&count); error != cudaSuccess) {
    machine.problem = cudaGetErrorString(error);
    return machine;
  }
  for (int index = 0; index < count; ++index) {
    cudaDeviceProp properties{};
    if (cudaSetDevice(index) != cudaSuccess || cudaGetDeviceProperties(&properties, index) != cudaSuccess) {
      machine.problem = fmt::format("GPU {}: {}", index, cudaGetErrorString(cudaGetLastError()));
      continue;
    }
    machine.gpus.push_back({properties.name, properties.major, properties.minor,
                            static_cast<int64_t>(properties.totalGlobalMem), jpeg_engines()});
  }
  return machine;
}

}  // namespace slipstream
