#include <filesystem>

#include "app/doctor_gpu.h"

namespace slipstream {

GpuSupport gpu_support() { return {}; }

GpuMachine gpu_machine() {
  GpuMachine machine;
  std::error_code ignored;
  machine.device_file = std::filesystem::exists("/dev/nvidia0", ignored);
  machine.problem = machine.device_file ? "this build can't use the one that is there" : "";
  return machine;
}

}  // namespace slipstream
