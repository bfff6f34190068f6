#include "app/units.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace slipstream {
namespace {

std::string with_commas(int64_t value) {
  std::string digits = fmt::format("{}", value);
  const int first = value < 0 ? 1 : 0;
  for (int at = static_cast<int>(digits.size()) - 3; at > first; at -= 3) {
    digits.insert(digits.begin() + at, ',');
  }
  return digits;
}

}  // namespace

std::string rounded(double value) {
  if (!std::isfinite(value)) return fmt::format("{}", value);
  const double size = std::abs(value);
  if (size < 9.995) return fmt::format("{:.3f}", value);
  if (size < 99.95) return fmt::format("{:.1f}", value);
  return size < 1e18 ? with_commas(std::llround(value)) : fmt::format("{:.3g}", value);
}

std::string share_text(double share) { return fmt::format("{:.1f}%", 100 * share); }

std::string seconds_text(double seconds) {
  if (!std::isfinite(seconds) || seconds < 99.95) return rounded(seconds) + " s";
  const int64_t whole = std::llround(seconds);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  const int64_t minutes = std::llround(seconds / 60);
  if (minutes < 2 * 24 * 60) return fmt::format("{} h {} min", minutes / 60, minutes % 60);
  return fmt::format("{} d {} h", minutes / (24 * 60), minutes / 60 % 24);
}

std::string bytes_text(int64_t bytes) {
  constexpr std::array kUnits = {"B", "kB", "MB", "GB", "TB"};
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  while (std::abs(value) >= 999.5 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.3g} {}", value, kUnits[unit]);
}

std::string megahertz_text(double mhz) { return rounded(mhz) + " MHz"; }

std::string watts_text(double watts) { return rounded(watts) + " W"; }

}  // namespace slipstream
