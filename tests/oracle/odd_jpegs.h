#pragma once

#include <filesystem>

namespace slipstream::test {

/// Writes to `folder` a JPEG of each way to store colour, with noise: gray, 444, 422, 420, 440, 411, rgb (as
/// it is), ycck and ycck-420 (CMYK ink), each with .jpg. Pillow reads all and can't write all.
void write_odd_jpegs(const std::filesystem::path& folder);

}  // namespace slipstream::test
