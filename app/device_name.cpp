#include "app/device_name.h"

#include <fmt/format.h>

#include "app/doctor_gpu.h"
#include "app/doctor_machine.h"
#include "pipeline/device.h"

namespace slipstream {

std::string device_name(const std::string& option) {
  const c10::Device device = parse_device(option);
  if (!device.is_cuda()) return fmt::format("CPU, {} cores", machine_facts().cores);
  return gpu_machine().gpus.at(static_cast<size_t>(device.index())).name;
}

}  // namespace slipstream
