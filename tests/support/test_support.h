#pragma once

#include <filesystem>
#include <string>

namespace slipstream::test {

/// A folder that disappears with the object.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

struct CommandResult {
  int exit_code = -1;  ///< 128 + signal if one ended it
  std::string output;  ///< stdout
  std::string errors;  ///< stderr
};

/// Runs `command` in a shell and waits for it.
CommandResult run_command(const std::string& command);

/// The slipstream executable that belongs to this build.
std::string executable();

/// Python with torch, torchvision and Pillow; empty if they are not installed.
std::string oracle_python();

/// Python with selenium and axe-core's script, where Chromium and its driver are installed, too; else empty.
std::string browser_python();

/// The repository's root.
std::filesystem::path source_folder();

/// The folder of real images beside the repository ("imagenet-sample", "cifar10-sample"); empty if absent.
/// SLIPSTREAM_SHARED_DATA overrides where it is looked for.
std::filesystem::path shared_data(const std::string& name);

std::string read_text(const std::filesystem::path& path);
void write_text(const std::filesystem::path& path, const std::string& text);

}  // namespace slipstream::test
