#include "models/conv_kernels.h"

namespace slipstream {

ConvKernels* cudnn_conv_kernels() { return nullptr; }

std::unique_ptr<ConvKernels> make_cudnn_conv_kernels(const std::string& /*choices_file*/) { return nullptr; }

}  // namespace slipstream
