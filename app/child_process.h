#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace slipstream {

struct ChildCommand {
  std::vector<std::string> arguments;                            ///< the first is the executable's path
  std::vector<std::pair<std::string, std::string>> environment;  ///< in place of or beside this process's
  std::string output, errors;  ///< files for stdout and stderr, emptied first
  int keeps_open = -1;         ///< a file descriptor that stays open in the child, too
};

/// How a process ended: with an exit code, or by a signal.
struct ChildEnd {
  int exit_code = -1;
  int signal = 0;
};

/// A child process, without a shell, in a process group of its own: a terminal's Ctrl-C reaches the parent
/// alone. Its stdin is empty. However the parent's calling thread ends, be it by SIGKILL, the child gets
/// SIGKILL, so start it on a thread that lives as long as the program.
class ChildProcess {
 public:
  /// Returns once the executable runs. Throws Error naming what can't be opened or started.
  explicit ChildProcess(const ChildCommand& command);
  /// Kills the child if it still runs, and waits for its end.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// Its end, once it has ended. Doesn't block.
  std::optional<ChildEnd> poll();
  /// Sends a signal, if it still runs.
  void signal(int number) const;

 private:
  pid_t pid_ = -1;
  std::optional<ChildEnd> end_;
};

}  // namespace slipstream
