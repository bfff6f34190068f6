#pragma once

#include <cstdint>

namespace slipstream {

/// The shape of an antialiased resize's filter, as Pillow and torchvision name it.
enum class Interpolation : uint8_t { kBilinear, kBicubic };

}  // namespace slipstream
