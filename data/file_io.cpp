#include "data/file_io.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "data/error.h"
#include "data/unique_fd.h"

namespace slipstream {
namespace {

[[noreturn]] void fail(const char* action, const std::string& path, int code = errno) {
  throw Error(fmt::format("Can't {} {}: {}.", action, path, std::generic_category().message(code)));
}

UniqueFd open_file(const std::string& path, int flags) {
  return UniqueFd(::open(path.c_str(), flags | O_CLOEXEC, 0666));
}

/// Some network file systems have no fsync of a folder; there, this is as good as it gets.
bool sync_folder(int fd) { return ::fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP; }

/// Two writers of one path, here or in another process, never share a temporary file.
std::string temporary_path(const std::string& path) {
  static std::atomic<int> counter{0};
  return fmt::format("{}.{}-{}.partial", path, ::getpid(), counter++);
}

}  // namespace

bool write_all(int fd, std::span<const char> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) return false;
    if (written > 0) bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return true;
}

void read_file(const std::string& path, std::vector<uint8_t>& bytes) {
  const UniqueFd file = open_file(path, O_RDONLY);
  struct stat facts = {};
  if (!file.valid() || ::fstat(file.get(), &facts) != 0) fail("read", path);

  bytes.resize(static_cast<size_t>(facts.st_size) + 1);  // room to see the end; pipes and /proc say size 0
  size_t filled = 0;
  while (true) {
    if (filled == bytes.size()) bytes.resize(2 * filled);
    const ssize_t count = ::read(file.get(), bytes.data() + filled, bytes.size() - filled);
    if (count == 0) break;
    if (count < 0 && errno != EINTR) fail("read", path);
    if (count > 0) filled += static_cast<size_t>(count);
  }
  bytes.resize(filled);
}

void write_file_atomically(const std::string& path, std::span<const char> bytes) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  const UniqueFd folder = open_file(parent.empty() ? "." : parent, O_RDONLY | O_DIRECTORY);
  if (!folder.valid()) fail("write", path);

  const std::string temporary = temporary_path(path);
  UniqueFd file = open_file(temporary, O_WRONLY | O_CREAT | O_TRUNC);
  if (!file.valid()) fail("write", path);
  const bool written = write_all(file.get(), bytes) && ::fsync(file.get()) == 0 && file.close() &&
                       ::rename(temporary.c_str(), path.c_str()) == 0;
  if (!written) {
    const int code = errno;
    ::unlink(temporary.c_str());
    fail("write", path, code);
  }
  if (!sync_folder(folder.get())) fail("make sure that a crash won't undo the writing of", path);
}

}  // namespace slipstream
