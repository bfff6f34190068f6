#include "app/utilisation.h"

#include <fmt/format.h>

#include <algorithm>

namespace slipstream {
namespace {

constexpr double kNothing = 1e-6;  // seconds: a bin's remainder of less is rounding

double overlap(double begin, double end, double other_begin, double other_end) {
  return std::max(0.0, std::min(end, other_end) - std::max(begin, other_begin));
}

}  // namespace

std::vector<UtilisationBin> Utilisation::add(const BusySpan& step) {
  std::vector<UtilisationBin> over;
  if (epoch_ != step.epoch) {
    over = finish();
    epoch_ = step.epoch;
    bin_s_ = step.begin_s - step.idle_s;
  }
  for (; step.end_s > bin_s_ + kWidth; bin_s_ += kWidth) {
    busy_s_ += overlap(step.begin_s, step.end_s, bin_s_, bin_s_ + kWidth);
    over.push_back({bin_s_, kWidth, busy_s_ / kWidth});
    busy_s_ = 0;
  }
  busy_s_ += overlap(step.begin_s, step.end_s, bin_s_, bin_s_ + kWidth);
  end_s_ = step.end_s;
  return over;
}

std::vector<UtilisationBin> Utilisation::finish() {
  std::vector<UtilisationBin> rest;
  const double width = end_s_ - bin_s_;
  if (epoch_ && width > kNothing) rest.push_back({bin_s_, width, busy_s_ / width});
  epoch_.reset();
  busy_s_ = 0;
  return rest;
}

std::string utilisation_rows(const std::vector<UtilisationBin>& bins) {
  std::string text;
  for (const UtilisationBin& bin : bins) {
    text += fmt::format("{:.3f},{:.3f}\n", bin.begin_s, std::clamp(bin.busy, 0.0, 1.0));
  }
  return text;
}

}  // namespace slipstream
