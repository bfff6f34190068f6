#pragma once

#include <cstdint>

#include "data/image_folder.h"

namespace slipstream {

/// About how large all files of a folder are together, by a thousand of them. Files that can't be looked at
/// count nothing.
int64_t estimated_bytes(const ImageFolder& folder);

}  // namespace slipstream
