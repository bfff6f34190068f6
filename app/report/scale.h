#pragma once

#include <string>
#include <vector>

namespace slipstream {

/// Maps low..high to the pixels from..to. An empty or no finite range maps to the middle.
class Scale {
 public:
  Scale(double low, double high, double from, double to) : low_(low), high_(high), from_(from), to_(to) {}

  double operator()(double value) const;
  double low() const { return low_; }
  double high() const { return high_; }
  double from() const { return from_; }
  double to() const { return to_; }

 private:
  double low_, high_, from_, to_;
};

/// Round values, a step apart.
struct Ticks {
  std::vector<double> values;
  double step = 1;

  /// With as many decimals as tell the ticks apart, and commas: "0.25", "1,500".
  std::string text(double value) const;
};

/// The multiples of 1, 2 or 5 times a power of ten within low..high, with at most `most` steps between low
/// and high; the step is no less than `least_step`.
Ticks nice_ticks(double low, double high, int most, double least_step = 0);

/// What stands along an axis.
struct Axis {
  std::string title;  ///< with the unit
  double low = 0, high = 1;
  bool is_share = false;  ///< ticks are "50%" for 0.5
  double least_step = 0;  ///< 1 for what is counted: epochs
};

/// The axis' range widened to its next ticks; from zero where `from_zero`. An empty range becomes one around
/// its value.
Axis rounded_out(Axis axis, bool from_zero);
Ticks axis_ticks(const Axis& axis, int most);
std::string tick_text(const Axis& axis, const Ticks& ticks, double value);

/// The unit in which a time of that length is a number of few digits.
struct TimeUnit {
  const char* name;  ///< "ms", "s", "min" or "h"
  double seconds;
};
TimeUnit time_unit(double longest_s);

}  // namespace slipstream
