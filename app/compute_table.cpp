#include "app/compute_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <vector>

#include "app/side_by_side.h"
#include "app/units.h"

namespace slipstream {
namespace {

constexpr size_t kKernelNameWidth = 76;

std::string milliseconds(double seconds) { return rounded(seconds * 1e3) + " ms"; }
std::string plural(int64_t count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}
std::string count(double launches) { return fmt::format("{:.0f}", launches); }

std::string rate_lines(const ComputeRate& rate) {
  const auto [fastest, slowest] = std::ranges::minmax(rate.step_s);
  const auto images_per_s = [&](double step_s) {
    return rounded(static_cast<double>(rate.batch_size) / step_s);
  };
  std::vector<std::string> titles = {"images/s", "a step"};
  std::vector<std::string> values = {rounded(rate.images_per_s()), milliseconds(rate.median_step_s())};
  const auto add = [&](const char* title, std::string value) {
    titles.emplace_back(title);
    values.push_back(std::move(value));
  };
  if (rate.parts) {
    add("  forward", milliseconds(rate.parts->forward_s));
    add("  backward", milliseconds(rate.parts->backward_s));
    add("  optimizer", milliseconds(rate.parts->optimizer_s));
  }
  if (rate.peak_bytes) add("peak memory", bytes_text(*rate.peak_bytes));
  if (rate.reserved_bytes) add("  held for it", bytes_text(*rate.reserved_bytes));
  if (rate.copy_bytes_per_s) {
    add("memory's copy rate", bytes_text(static_cast<int64_t>(*rate.copy_bytes_per_s)) + "/s");
  }
  if (rate.gpu.clock_mhz) add("GPU's clock", megahertz_text(*rate.gpu.clock_mhz));
  if (rate.gpu.top_clock_mhz) add("  at most", megahertz_text(*rate.gpu.top_clock_mhz));
  if (rate.gpu.power_w) add("  power", watts_text(*rate.gpu.power_w));
  if (rate.gpu.power_limited) add("  clock held down", share_text(*rate.gpu.power_limited));
  return fmt::format("Median of {} of {} ({} to {} images/s).\n\n{}",
                     plural(static_cast<int64_t>(rate.step_s.size()), "window"), plural(rate.steps, "step"),
                     images_per_s(slowest), images_per_s(fastest), side_by_side(titles, {values}));
}

std::string kind_lines(const ComputeRate::Traced& traced) {
  const KernelSummary& kernels = traced.kernels;
  std::vector<std::string> titles = {"kind of kernel"};
  std::vector<std::string> times = {"a step"};
  std::vector<std::string> shares = {"share"};
  std::vector<std::string> launches = {"launches"};
  const auto add = [&](const char* title, double seconds, std::string launched) {
    titles.emplace_back(title);
    times.push_back(milliseconds(seconds));
    shares.push_back(share_text(seconds / kernels.span_s));
    launches.push_back(std::move(launched));
  };
  for (const KernelKind kind : kKernelKinds) {
    add(name_of(kind), kernels.of(kind).seconds, count(kernels.of(kind).launches));
  }
  add("idle", kernels.idle_s, "-");
  add("all", kernels.span_s, count(kernels.launches()));
  return side_by_side(titles, {times, shares, launches});
}

std::string longest_lines(const KernelSummary& kernels) {
  std::string text = fmt::format("{:>9}  {:>8}  longest kernels\n", "a step", "launches");
  constexpr size_t kMostLines = 12;
  const size_t lines = std::min(kernels.longest.size(), kMostLines);
  for (const KernelSummary::Kernel& kernel : std::span(kernels.longest).first(lines)) {
    text += fmt::format("{:>9}  {:>8}  {}\n", milliseconds(kernel.seconds), count(kernel.launches),
                        short_kernel_name(kernel.name, kKernelNameWidth));
  }
  return text;
}

}  // namespace

std::string compute_table(const ComputeRate& rate) {
  std::string text = rate_lines(rate) + "\n";
  if (!rate.traced) return text + rate.why_not_traced + "\n";
  text += kind_lines(*rate.traced);
  text += fmt::format("\nKernels are of steps of their own, which took {} while they were traced.\n\n",
                      milliseconds(rate.traced->step_s));
  return text + longest_lines(rate.traced->kernels);
}

}  // namespace slipstream
