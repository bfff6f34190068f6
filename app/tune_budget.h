#pragma once

#include <vector>

namespace slipstream {

/// The time that `tune` may take, and what of it is gone. The next trial is expected to take what those
/// before it took as a rule: a single one may take longer, as cuDNN's kernels are chosen for a batch size
/// that is new.
class TuneBudget {
 public:
  explicit TuneBudget(double seconds) : seconds_(seconds) {}

  /// The first trial, which may take longer than others: files aren't in memory yet. `again_s`: without that.
  void spend_first(double trial_s, double again_s);
  void spend(double trial_s);

  bool has_room_for(int trials) const { return left_before(trials) >= 0; }
  /// What a trial may take so that as many others have room after it; negative if they have none.
  double left_before(int trials) const { return seconds_ - spent_s_ - trials * expected_s(); }
  double spent_s() const { return spent_s_; }
  double expected_s() const;  ///< of a trial

  /// Throws Error: the budget is too small for as many trials in all.
  [[noreturn]] void refuse(int trials) const;
  /// Likewise, where nobody knows what a trial takes.
  [[noreturn]] void refuse() const;

 private:
  double seconds_;
  double spent_s_ = 0, first_s_ = 0;
  std::vector<double> lengths_;  // but the first's
};

}  // namespace slipstream
