#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace slipstream {

/// What a run may use of this machine: limits of the container, the user and the process are respected.
struct MachineFacts {
  int64_t cores = 0;
  int64_t memory_bytes = 0;
  int64_t available_bytes = 0;
  std::optional<int64_t> open_files;    ///< empty: no limit
  std::optional<int64_t> locked_bytes;  ///< empty: no limit
};

/// `container`: the folder of the control group that this process is in.
MachineFacts machine_facts(const std::string& container = "/sys/fs/cgroup");

/// "1024", or "unlimited" if empty.
std::string limit_text(const std::optional<int64_t>& limit);

}  // namespace slipstream
