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

  bool has_room_for(double seconds) const { return left_s() >= seconds; }
  double left_s() const { return seconds_ - spent_s_; }
  double spent_s() const { return spent_s_; }
  double expected_s() const;  ///< of a trial

  /// Throws Error if as many trials more have no room.
  void require_room_for(int trials) const;
  /// Throws Error: the budget is too small, and nobody knows what a trial takes.
  [[noreturn]] void refuse() const;

 private:
  double seconds_;
  double spent_s_ = 0, first_s_ = 0;
  std::vector<double> lengths_;  // but the first's
};

}  // namespace slipstream
