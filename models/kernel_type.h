#pragma once

namespace slipstream {

/// What the values of a tensor are to kernels of our own.
enum class KernelType { kFloat32, kFloat16, kBfloat16 };

}  // namespace slipstream
