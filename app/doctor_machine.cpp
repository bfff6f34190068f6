#include "app/doctor_machine.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <fstream>

namespace slipstream {
namespace {

std::optional<int64_t> limit(__rlimit_resource resource) {
  rlimit bounds{};
  if (getrlimit(resource, &bounds) != 0 || bounds.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return static_cast<int64_t>(bounds.rlim_cur);
}

/// The cores that this process may run on, cut to the container's quota.
int64_t usable_cores(const std::string& container) {
  cpu_set_t set;
  int64_t cores = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
  int64_t quota = 0, period = 0;
  std::ifstream file(container + "/cpu.max");  // "max 100000" where there is no quota
  if (file >> quota >> period && period > 0) cores = std::min(cores, std::max<int64_t>(quota / period, 1));
  return cores;
}

int64_t number_in(const std::string& path) {
  std::ifstream file(path);
  int64_t value = 0;
  return file >> value ? value : 0;
}

/// What the container's processes hold. Files that it keeps in memory make way where memory is needed.
int64_t held_bytes(const std::string& container) {
  int64_t held = number_in(container + "/memory.current");
  std::ifstream file(container + "/memory.stat");
  std::string name;
  for (int64_t bytes = 0; file >> name >> bytes;) {
    if (name == "inactive_file" || name == "active_file") held -= bytes;
  }
  return std::max<int64_t>(held, 0);
}

int64_t meminfo(const std::string& key) {
  std::ifstream file("/proc/meminfo");
  std::string name, unit;
  for (int64_t kilobytes = 0; file >> name >> kilobytes; std::getline(file, unit)) {
    if (name == key) return kilobytes * 1024;
  }
  return 0;
}

}  // namespace

MachineFacts machine_facts(const std::string& container) {
  MachineFacts facts;
  facts.cores = usable_cores(container);
  facts.memory_bytes = meminfo("MemTotal:");
  facts.available_bytes = meminfo("MemAvailable:");
  if (const int64_t most = number_in(container + "/memory.max"); most > 0 && most < facts.memory_bytes) {
    facts.memory_bytes = most;
    facts.available_bytes = std::min(facts.available_bytes, most - held_bytes(container));
  }
  facts.open_files = limit(RLIMIT_NOFILE);
  facts.locked_bytes = limit(RLIMIT_MEMLOCK);
  return facts;
}

std::string limit_text(const std::optional<int64_t>& limit) {
  return limit ? fmt::format("{}", *limit) : "unlimited";
}

}  // namespace slipstream
