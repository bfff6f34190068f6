#pragma once

#include <string>
#include <vector>

#include "app/doctor_gpu.h"
#include "app/doctor_machine.h"

namespace slipstream {

/// What would be slow or fail, and what to do: sentences, the gravest first.
std::vector<std::string> doctor_findings(const GpuSupport& support, const MachineFacts& machine,
                                         const GpuMachine& gpus);

/// "7 JPEG engines", "no JPEG engines"
std::string jpeg_text(const Gpu& gpu);

}  // namespace slipstream
