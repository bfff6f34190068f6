#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace slipstream {

/// What this build brings for GPUs.
struct GpuSupport {
  bool cuda = false;
  std::vector<std::pair<std::string, std::string>> libraries;  ///< name, version
  std::vector<int> architectures;                              ///< 90 for compute capability 9.0
};

/// A GPU that this process can use.
struct Gpu {
  std::string name;
  int major = 0, minor = 0;  ///< compute capability
  int64_t memory_bytes = 0;
  std::optional<int64_t> jpeg_engines;  ///< 0: none; empty: some, but their number is unknown
};

/// What this machine has.
struct GpuMachine {
  bool device_file = false;  ///< /dev/nvidia0 is there
  std::string driver;        ///< version of NVIDIA's driver; empty: unknown
  std::string problem;       ///< why there are no GPUs, if CUDA says so
  std::vector<Gpu> gpus;
};

GpuSupport gpu_support();
/// In a CPU build no more than whether the device file exists. Starts CUDA on each GPU otherwise: seconds.
GpuMachine gpu_machine();

}  // namespace slipstream
