#pragma once

#include <string>
#include <vector>

namespace slipstream {

/// Maps low..high to the pixels from..to, by logarithms where `is_log`. What that can't map goes to the
/// middle.
class Scale {
 public:
  Scale(double low, double high, double from, double to, bool is_log = false)
      : low_(low), high_(high), from_(from), to_(to), is_log_(is_log) {}

  double operator()(double value) const;
  double from() const { return from_; }
  double to() const { return to_; }

 private:
  double low_, high_, from_, to_;
  bool is_log_;
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
  bool is_log = false;    ///< low is more than zero; ticks are powers of ten
};

/// The axis' range widened to its next ticks; from zero where `from_zero`. An empty range becomes one around
/// its value.
Axis rounded_out(Axis axis, bool from_zero);
/// By logarithms, widened to powers of ten.
Axis rounded_out_log(Axis axis);
/// Whether a range of values spans so much that its lower part would be flat without logarithms.
bool wants_log(double low, double high);
Ticks axis_ticks(const Axis& axis, int most);
std::string tick_text(const Axis& axis, const Ticks& ticks, double value);

/// The unit in which a time of that length is a number of few digits.
struct TimeUnit {
  const char* name;  ///< "ms", "s", "min" or "h"
  double seconds;
};
TimeUnit time_unit(double longest_s);
/// "42.1 ms", "3.512 s", "12 min 5 s": as seconds_text, but short times keep their digits.
std::string duration_text(double seconds);

}  // namespace slipstream
