#pragma once

#include <vector>

#include "app/compare_figures.h"
#include "app/tune_trial.h"

namespace slipstream {

/// Equal trials, and what they say together.
class Repeated {
 public:
  void add(const Measured& measured) {
    rates_.push_back(measured.images_per_s);
    errors_.push_back(measured.plus_minus);
    waits_.push_back(measured.data_wait_share);
  }
  bool empty() const { return rates_.empty(); }

  Measured median() const {
    return {.images_per_s = spread_of(rates_).median,
            .plus_minus = spread_of(errors_).median,
            .data_wait_share = spread_of(waits_).median};
  }
  /// From the slowest to the fastest, as a share of the median rate.
  double range() const {
    const Spread spread = spread_of(rates_);
    return (spread.max - spread.min) / spread.median;
  }

 private:
  std::vector<double> rates_, errors_, waits_;
};

}  // namespace slipstream
