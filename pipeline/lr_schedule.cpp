#include "pipeline/lr_schedule.h"

#include <cmath>
#include <numbers>

namespace slipstream {

double learning_rate(const TrainOptions& options, double epochs_done) {
  if (epochs_done < options.warmup_epochs) return options.lr * epochs_done / options.warmup_epochs;
  switch (options.lr_schedule) {
    case LrSchedule::kCosine: {
      const double span = static_cast<double>(options.epochs) - options.warmup_epochs;
      const double share = span > 0 ? (epochs_done - options.warmup_epochs) / span : 1;
      return options.lr * (1 + std::cos(std::numbers::pi * std::fmin(share, 1))) / 2;
    }
    case LrSchedule::kStep:
      return options.lr * std::pow(0.1, std::floor(epochs_done / 30));
    case LrSchedule::kConstant:
      break;
  }
  return options.lr;
}

}  // namespace slipstream
