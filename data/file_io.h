#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace slipstream {

/// Reads a whole file into `bytes`, whose capacity is reused. Throws Error naming the path.
void read_file(const std::string& path, std::vector<uint8_t>& bytes);

/// Writes all bytes to an open file, however many calls that takes. False, with errno set, if one fails.
bool write_all(int fd, std::span<const char> bytes);

/// Writes a file so that it is there whole or not at all: beside it, fsync, rename, fsync of the folder.
/// Throws Error naming the path; the old file, if any, is then untouched.
void write_file_atomically(const std::string& path, std::span<const char> bytes);

}  // namespace slipstream
