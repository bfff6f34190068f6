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

void TuneBudget::refuse(int trials) const {
  constexpr double kMargin = 1.1;
  throw Error(fmt::format(
      "--budget {}: too little to find anything here: a trial takes about {:.1f} s, and {} are the "
      "least. Give --budget {:.0f}, or a smaller --batch-size or --image-size.",
      seconds_, expected_s(), trials, expected_s() * trials * kMargin));
}

void TuneBudget::refuse() const {
  throw Error(fmt::format(
      "--budget {}: too few steps of training end in it to tell what is needed; give several times "
      "as much, or a smaller --batch-size or --image-size.",
      seconds_));
}

}  // namespace slipstream
