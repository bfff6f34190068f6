#pragma once

#include <string>

namespace slipstream {

/// Where a command's images are: `part` ("train", "val") of the folder that --data names, or where there is
/// no such part, that folder. Throws UsageError if --data is missing or names no folder.
std::string images_folder(const std::string& data, const std::string& part);

}  // namespace slipstream
