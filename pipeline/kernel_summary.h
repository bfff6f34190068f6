#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "pipeline/kernel_kinds.h"

namespace slipstream {

/// A kernel, a copy or a fill that a device did.
struct DeviceActivity {
  std::string name;
  int64_t begin_ns = 0, end_ns = 0;  ///< by the device's clock
};

/// Where a device's time went, for each step. The kinds' seconds and `idle_s` add up to `span_s`.
struct KernelSummary {
  struct Kind {
    double seconds = 0;  ///< of concurrent activities, the time goes to the one that began first
    double launches = 0;
  };
  struct Kernel {
    std::string name;
    KernelKind kind;
    double seconds = 0;  ///< from its begin to its end
    double launches = 0;
  };

  double span_s = 0;  ///< from the first activity's begin to the last one's end
  double idle_s = 0;  ///< gaps between activities
  std::array<Kind, kKernelKinds.size()> kinds;
  std::vector<Kernel> longest;  ///< those that took most, the longest first

  const Kind& of(KernelKind kind) const { return kinds[static_cast<size_t>(kind)]; }
  double launches() const;
};

/// `activities`: all that the device did in `steps` steps, in any order. Keeps the `most` longest kernels.
KernelSummary summarise(std::vector<DeviceActivity> activities, int64_t steps, size_t most = 200);

}  // namespace slipstream
