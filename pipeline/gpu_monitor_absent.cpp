#include "pipeline/gpu_monitor.h"

namespace slipstream {

std::unique_ptr<GpuMonitor> make_gpu_monitor(c10::Device) { return nullptr; }

}  // namespace slipstream
