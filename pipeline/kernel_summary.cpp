#include "pipeline/kernel_summary.h"

#include <algorithm>
#include <map>
#include <utility>

namespace slipstream {
namespace {
constexpr double kNanosecond = 1e-9;
}  // namespace

double KernelSummary::launches() const {
  double sum = 0;
  for (const Kind& kind : kinds) sum += kind.launches;
  return sum;
}

KernelSummary summarise(std::vector<DeviceActivity> activities, int64_t steps, size_t most) {
  KernelSummary summary;
  if (activities.empty()) return summary;
  std::ranges::sort(activities, {}, &DeviceActivity::begin_ns);
  const double a_step = 1 / static_cast<double>(steps);
  const int64_t begin_ns = activities.front().begin_ns;
  int64_t covered_until = begin_ns;
  int64_t idle_ns = 0;
  std::map<std::string, KernelSummary::Kernel> kernels;
  for (const DeviceActivity& activity : activities) {
    const KernelKind kind = kind_of(activity.name);
    KernelSummary::Kind& total = summary.kinds[static_cast<size_t>(kind)];
    total.launches += a_step;
    idle_ns += std::max<int64_t>(0, activity.begin_ns - covered_until);
    const int64_t from = std::max(activity.begin_ns, covered_until);
    covered_until = std::max(covered_until, activity.end_ns);
    total.seconds += static_cast<double>(covered_until - from) * kNanosecond * a_step;

    KernelSummary::Kernel& kernel =
        kernels.try_emplace(activity.name, KernelSummary::Kernel{activity.name, kind}).first->second;
    kernel.seconds += static_cast<double>(activity.end_ns - activity.begin_ns) * kNanosecond * a_step;
    kernel.launches += a_step;
  }
  summary.span_s = static_cast<double>(covered_until - begin_ns) * kNanosecond * a_step;
  summary.idle_s = static_cast<double>(idle_ns) * kNanosecond * a_step;

  for (auto& [name, kernel] : kernels) summary.longest.push_back(std::move(kernel));
  std::ranges::stable_sort(summary.longest, std::greater<>(), &KernelSummary::Kernel::seconds);
  if (summary.longest.size() > most) summary.longest.resize(most);
  return summary;
}

}  // namespace slipstream
