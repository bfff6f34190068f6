#include "app/report/scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "app/units.h"

namespace slipstream {
namespace {

constexpr double kHair = 1e-9;  // of a step: 0.1 + 0.2 is still within 0.3

/// 1, 2 or 5 times a power of ten, no less than `least`.
double nice_step(double least) {
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (const double factor : {1., 2., 5.}) {
    if (factor * power >= least * (1 - kHair)) return factor * power;
  }
  return 10 * power;
}

/// Powers of ten, each, or every second, third...
Ticks power_ticks(const Axis& axis, int most) {
  const auto first = static_cast<int>(std::lround(std::log10(axis.low)));
  const auto last = static_cast<int>(std::lround(std::log10(axis.high)));
  const int stride = std::max(1, (last - first + most - 1) / most);
  Ticks ticks;
  for (int power = first; power <= last; power += stride) ticks.values.push_back(std::pow(10, power));
  return ticks;
}

std::string with_commas(std::string number) {
  const size_t first = number.starts_with('-') ? 1 : 0;
  size_t at = std::min(number.find('.'), number.size());
  while (at > first + 3) {
    at -= 3;
    number.insert(at, 1, ',');
  }
  return number;
}

/// "0.1", "100", "10⁶"
std::string power_text(double value) {
  const auto power = static_cast<int>(std::lround(std::log10(value)));
  if (power > -4 && power < 5) return with_commas(fmt::format("{:g}", value));
  constexpr std::array kDigits = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text = power < 0 ? "10⁻" : "10";
  for (const char digit : std::to_string(std::abs(power))) text += kDigits[static_cast<size_t>(digit - '0')];
  return text;
}

}  // namespace

double Scale::operator()(double value) const {
  const double share =
      is_log_ ? std::log(value / low_) / std::log(high_ / low_) : (value - low_) / (high_ - low_);
  return std::isfinite(share) ? from_ + share * (to_ - from_) : (from_ + to_) / 2;
}

std::string Ticks::text(double value) const {
  const int decimals = std::max(0, -static_cast<int>(std::floor(std::log10(step) + kHair)));
  const std::string number = fmt::format("{:.{}f}", std::abs(value) < step * kHair ? 0 : value, decimals);
  return with_commas(number);
}

Ticks nice_ticks(double low, double high, int most, double least_step) {
  Ticks ticks;
  if (!std::isfinite(high - low) || high <= low) return {.values = {low}, .step = 1};
  ticks.step = nice_step(std::max((high - low) / most, least_step));
  const double first = std::ceil(low / ticks.step - kHair);
  for (double n = first; n * ticks.step <= high + ticks.step * kHair; ++n) {
    ticks.values.push_back(n * ticks.step);
  }
  return ticks;
}

Axis rounded_out(Axis axis, bool from_zero) {
  if (!std::isfinite(axis.low) || !std::isfinite(axis.high)) axis.low = 0, axis.high = 1;
  if (from_zero) axis.low = std::min(axis.low, 0.0);
  if (axis.high <= axis.low) {
    const double margin = axis.low == 0 ? 1 : std::abs(axis.low) / 10;
    axis.high = axis.low + margin;
    if (!from_zero) axis.low -= margin;
  }
  const double step = nice_step((axis.high - axis.low) / 5);
  axis.low = std::floor(axis.low / step + kHair) * step;
  axis.high = std::ceil(axis.high / step - kHair) * step;
  return axis;
}

Axis rounded_out_log(Axis axis) {
  axis.is_log = true;
  axis.title += ", logarithmic";
  axis.low = std::pow(10, std::floor(std::log10(axis.low) + kHair));
  axis.high = std::pow(10, std::ceil(std::log10(axis.high) - kHair));
  return axis;
}

bool wants_log(double low, double high) { return low > 0 && high > 200 * low; }

Ticks axis_ticks(const Axis& axis, int most) {
  if (axis.is_log) return power_ticks(axis, most);
  return nice_ticks(axis.low, axis.high, most, axis.least_step);
}

std::string tick_text(const Axis& axis, const Ticks& ticks, double value) {
  if (axis.is_log) return power_text(value);
  if (!axis.is_share) return ticks.text(value);
  const Ticks percents{.values = {}, .step = ticks.step * 100};
  return percents.text(value * 100) + "%";
}

TimeUnit time_unit(double longest_s) {
  if (longest_s < 1) return {"ms", 1e-3};
  if (longest_s < 300) return {"s", 1};
  if (longest_s < 3 * 3600) return {"min", 60};
  return {"h", 3600};
}

std::string duration_text(double seconds) {
  constexpr double kNothing = 5e-7;  // less than half of the last digit of "0.001 ms"
  if (std::abs(seconds) < kNothing) return "0 s";
  return std::abs(seconds) < 0.9995 ? rounded(seconds * 1e3) + " ms" : seconds_text(seconds);
}

}  // namespace slipstream
