#pragma once

#include <algorithm>

namespace slipstream {

/// The time that `tune` may take, and what of it is gone. A trial is expected to take as long as the longest
/// of those before it; the first, which starts with cold files, is forgotten once there is another.
class TuneBudget {
 public:
  explicit TuneBudget(double seconds) : seconds_(seconds) {}

  void spend(double trial_s) {
    longest_s_ = trials_ <= 1 ? trial_s : std::max(longest_s_, trial_s);
    spent_s_ += trial_s;
    ++trials_;
  }

  bool has_room_for(int trials) const { return spent_s_ + trials * longest_s_ <= seconds_; }
  /// Throws Error that says what is needed for so many trials of `trial_s`, or that nobody knows, if that is
  /// 0.
  [[noreturn]] void refuse(double trial_s, int trials) const;
  double left_s() const { return std::max(0.0, seconds_ - spent_s_); }
  /// What a trial may take so that as many others have room after it.
  double left_before(int trials) const { return left_s() - trials * longest_s_; }
  double spent_s() const { return spent_s_; }

 private:
  double seconds_;
  double spent_s_ = 0, longest_s_ = 0;
  int trials_ = 0;
};

}  // namespace slipstream
