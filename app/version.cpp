#include "app/version.h"

namespace slipstream {

std::string version() { return SLIPSTREAM_VERSION; }
std::string build_variant() { return SLIPSTREAM_VARIANT; }

}  // namespace slipstream
