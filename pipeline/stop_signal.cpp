#include "pipeline/stop_signal.h"

#include <atomic>
#include <csignal>

namespace slipstream {
namespace {

std::atomic<int> g_requested{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler may use it");

void on_signal(int signal) {
  g_requested = signal;
  std::signal(signal, SIG_DFL);
}

}  // namespace

StopSignal::StopSignal() {
  g_requested = 0;
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
}

StopSignal::~StopSignal() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

int StopSignal::requested() { return g_requested; }

}  // namespace slipstream
