#include "app/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <string_view>
#include <system_error>

#include "data/error.h"
#include "data/unique_fd.h"

namespace slipstream {
namespace {

[[noreturn]] void fail(const char* action, const std::string& what, int code = errno) {
  throw Error(fmt::format("Can't {} {}: {}.", action, what, std::generic_category().message(code)));
}

UniqueFd open_file(const std::string& path, int flags) {
  UniqueFd file(::open(path.c_str(), flags | O_CLOEXEC, 0666));
  if (!file.valid()) fail("open", path);
  return file;
}

std::vector<std::string> environment_with(const std::vector<std::pair<std::string, std::string>>& added) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const auto replaces = [&](const auto& one) { return text.starts_with(one.first + "="); };
    if (std::none_of(added.begin(), added.end(), replaces)) all.emplace_back(text);
  }
  for (const auto& [name, value] : added) all.push_back(fmt::format("{}={}", name, value));
  return all;
}

/// As execve takes them; they point into `texts`.
std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

struct Prepared {
  std::vector<char*> arguments, environment;
  int input, output, errors, keeps_open, failure;
  pid_t parent;
};

/// Between fork and execve, where only async-signal-safe calls are allowed. Tells errno to `failure`.
[[noreturn]] void become(const Prepared& prepared) {
  const bool ready = ::setpgid(0, 0) == 0 && ::prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 &&
                     ::getppid() == prepared.parent &&  // else it died before the line above
                     ::dup2(prepared.input, STDIN_FILENO) >= 0 &&
                     ::dup2(prepared.output, STDOUT_FILENO) >= 0 &&
                     ::dup2(prepared.errors, STDERR_FILENO) >= 0 &&
                     (prepared.keeps_open < 0 || ::fcntl(prepared.keeps_open, F_SETFD, 0) == 0);
  if (ready) ::execve(prepared.arguments[0], prepared.arguments.data(), prepared.environment.data());
  const int code = errno;
  [[maybe_unused]] const ssize_t written = ::write(prepared.failure, &code, sizeof(code));
  ::_exit(127);
}

void wait_for(pid_t pid, int* status) {
  while (::waitpid(pid, status, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace

ChildProcess::ChildProcess(const ChildCommand& command) {
  std::vector<std::string> arguments = command.arguments;
  std::vector<std::string> environment = environment_with(command.environment);
  const UniqueFd input = open_file("/dev/null", O_RDONLY);
  const UniqueFd output = open_file(command.output, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND);
  const UniqueFd errors = open_file(command.errors, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND);
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) fail("make", "a pipe");
  const UniqueFd started(ends[0]);
  UniqueFd failure(ends[1]);
  const Prepared prepared = {pointers(arguments), pointers(environment), input.get(),   output.get(),
                             errors.get(),        command.keeps_open,    failure.get(), ::getpid()};

  pid_ = ::fork();
  if (pid_ < 0) fail("start", arguments[0]);
  if (pid_ == 0) become(prepared);

  failure.close();
  // Ends with nothing read once execve has closed the child's end; from then on no signal that is sent to the
  // child can meet this process's handlers in it, and be lost.
  int code = 0;
  ssize_t count = 0;
  while ((count = ::read(started.get(), &code, sizeof(code))) < 0 && errno == EINTR) {
  }
  if (count == 0) return;
  wait_for(pid_, nullptr);
  fail("start", arguments[0], code);
}

ChildProcess::~ChildProcess() {
  if (end_) return;
  signal(SIGKILL);
  wait_for(pid_, nullptr);
}

std::optional<ChildEnd> ChildProcess::poll() {
  int status = 0;
  if (!end_ && ::waitpid(pid_, &status, WNOHANG) == pid_) {
    end_ = WIFSIGNALED(status) ? ChildEnd{.signal = WTERMSIG(status)}
                               : ChildEnd{.exit_code = WEXITSTATUS(status)};
  }
  return end_;
}

void ChildProcess::signal(int number) const {
  if (!end_) ::kill(pid_, number);
}

}  // namespace slipstream
