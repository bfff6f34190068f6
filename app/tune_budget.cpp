#include "app/tune_budget.h"

#include <fmt/format.h>

#include "data/error.h"

namespace slipstream {

void TuneBudget::refuse(double trial_s, int trials) const {
  if (trial_s <= 0) {
    throw Error(fmt::format(
        "--budget {}: too few steps of training end in it to tell what is needed; give several times "
        "as much, or a smaller --batch-size or --image-size.",
        seconds_));
  }
  constexpr double kMargin = 1.1;
  throw Error(fmt::format(
      "--budget {}: too little to find anything here: a trial takes about {:.1f} s, and {} are the "
      "least. Give --budget {:.0f}, or a smaller --batch-size or --image-size.",
      seconds_, trial_s, trials, trial_s * trials * kMargin));
}

}  // namespace slipstream
