#include "app/tune_budget.h"

#include <fmt/format.h>

#include "app/compare_figures.h"
#include "data/error.h"

namespace slipstream {

void TuneBudget::spend_first(double trial_s, double again_s) {
  spent_s_ += trial_s;
  first_s_ = again_s;
}

void TuneBudget::spend(double trial_s) {
  spent_s_ += trial_s;
  lengths_.push_back(trial_s);
}

double TuneBudget::expected_s() const { return lengths_.empty() ? first_s_ : spread_of(lengths_).median; }

void TuneBudget::require_room_for(int trials) const {
  constexpr double kMargin = 1.1;
  const double needed_s = trials * expected_s();
  if (has_room_for(needed_s)) return;
  throw Error(fmt::format(
      "--budget {}: too little to find anything here: {:.1f} s are gone, and {} trials more, of "
      "about {:.1f} s each, are the least. Give --budget {:.0f}, or a smaller --batch-size or --image-size.",
      seconds_, spent_s_, trials, expected_s(), (spent_s_ + needed_s) * kMargin));
}

void TuneBudget::refuse() const {
  throw Error(fmt::format(
      "--budget {}: too few steps of training end in it to tell what is needed; give several times "
      "as much, or a smaller --batch-size or --image-size.",
      seconds_));
}

}  // namespace slipstream
