#include "tests/support/test_support.h"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace slipstream::test {
namespace fs = std::filesystem;

TemporaryFolder::TemporaryFolder() {
  static std::atomic<int> counter{0};
  path_ = fs::temp_directory_path() /
          ("slipstream-test-" + std::to_string(getpid()) + "-" + std::to_string(counter++));
  fs::create_directories(path_);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

CommandResult run_command(const std::string& command) {
  TemporaryFolder folder;
  const std::string redirected = "(" + command + ") >" + (folder.path() / "out").string() + " 2>" +
                                 (folder.path() / "err").string() + " </dev/null";
  const int status = std::system(redirected.c_str());
  CommandResult result;
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  result.output = read_text(folder.path() / "out");
  result.errors = read_text(folder.path() / "err");
  return result;
}

std::string executable() {
  const char* path = std::getenv("SLIPSTREAM_EXECUTABLE");
  if (path == nullptr) throw std::runtime_error("set SLIPSTREAM_EXECUTABLE, as ctest does");
  return path;
}

std::string oracle_python() {
  const std::string python = SLIPSTREAM_PYTHON;
  if (!fs::exists(python)) return {};
  return run_command(python + " -c 'import torch, torchvision, PIL'").exit_code == 0 ? python : std::string();
}

std::string browser_python() {
  const std::string python = SLIPSTREAM_BROWSER_PYTHON;
  const bool installed = fs::exists(python) && run_command("chromium --version").exit_code == 0 &&
                         run_command("chromedriver --version").exit_code == 0;
  return installed ? python : std::string();
}

fs::path source_folder() { return SLIPSTREAM_SOURCE_DIR; }

fs::path shared_data(const std::string& name) {
  const char* elsewhere = std::getenv("SLIPSTREAM_SHARED_DATA");
  const fs::path folder = fs::path(elsewhere != nullptr ? elsewhere : SLIPSTREAM_SHARED_DATA) / name;
  return fs::is_directory(folder) ? folder : fs::path();
}

std::string read_text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("can't read " + path.string());
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void write_text(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

}  // namespace slipstream::test
