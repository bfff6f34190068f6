#pragma once

#include <filesystem>

namespace slipstream::test {

/// Writes to `folder` JPEGs of the kinds that Pillow reads but can't write: 4:4:0, 4:1:1, and CMYK ink stored
/// as YCCK, each with noise.
void write_odd_jpegs(const std::filesystem::path& folder);

}  // namespace slipstream::test
