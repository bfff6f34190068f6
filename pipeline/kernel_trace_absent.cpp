#include "pipeline/kernel_trace.h"

namespace slipstream {

std::unique_ptr<KernelTrace> make_kernel_trace(c10::Device) { return nullptr; }

}  // namespace slipstream
