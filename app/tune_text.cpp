#include "app/tune_text.h"

#include <fmt/format.h>

#include "app/units.h"
#include "pipeline/bottleneck.h"

namespace slipstream {
namespace {

std::string meaning(const Trial& trial) {
  switch (trial.kind) {
    case TrialKind::kWarmUp:
      return "counts nowhere: it brings files into memory";
    case TrialKind::kCeiling:
      return "the ceiling";
    case TrialKind::kBaseline:
      return "the start";
    case TrialKind::kConfirmation:
      return "once more";
    case TrialKind::kCandidate:
      break;
  }
  const double gain = trial.gain.value_or(0);
  if (trial.wins) return fmt::format("{:+.1f}%: faster", 100 * gain);
  return fmt::format("{:+.1f}%: {}", 100 * gain, gain > 0 ? "within the noise" : "no faster");
}

std::string nothing_pays_sentence(const TuneResult& result) {
  const std::string found = settings_text(result.found, false);
  if (!result.most_workers && !result.most_prefetch) {
    return fmt::format("Neither more nor fewer workers or batches ahead are faster than {}.", found);
  }
  const char* untried = !result.most_prefetch  ? "more workers were"
                        : !result.most_workers ? "more batches ahead were"
                                               : "more of either was";
  return fmt::format("Nothing that was tried is faster than {}; {} not tried.", found, untried);
}

std::string end_sentence(const TuneResult& result) {
  switch (result.end) {
    case TuneEnd::kAtCeiling:
      return fmt::format(
          "Input is hidden with {}: that reached the rate without input to within 2%, so no other input "
          "settings were tried.",
          settings_text(result.found, false));
    case TuneEnd::kOutOfBudget:
      return "The search ended for want of time; a larger --budget would try more.";
    case TuneEnd::kNothingPays:
      break;
  }
  return nothing_pays_sentence(result);
}

std::string outcome_sentence(const TuneResult& result, bool names_batch) {
  const std::string found = settings_text(result.found, names_batch);
  const std::string start = settings_text(result.baseline, names_batch);
  switch (result.confirmation) {
    case Confirmation::kUnconfirmed:
      return fmt::format(
          "{} seemed faster, but the budget left no room to confirm that, so {} stays; give a larger "
          "--budget.",
          found, start);
    case Confirmation::kFailed:
      return fmt::format("{} seemed faster, but a trial that was to confirm that failed, so {} stays.", found,
                         start);
    case Confirmation::kNotFaster:
      return fmt::format("{} was the fastest of the search, but wasn't once more, so {} stays.", found,
                         start);
    case Confirmation::kFaster:
      return fmt::format("{} is {:.1f}% faster than {}: {} images/s against {}, measured in turn.", found,
                         100 * (result.at_chosen.images_per_s / result.at_baseline.images_per_s - 1), start,
                         rounded(result.at_chosen.images_per_s), rounded(result.at_baseline.images_per_s));
    case Confirmation::kNotNeeded:
      break;
  }
  return fmt::format("{} stays, where the search began.", start);
}

std::string limit_sentence(const TuneResult& result, bool shares_cores) {
  const double wait_share = result.at_chosen.data_wait_share;
  const bool waits = is_input_bound(wait_share);
  std::string text = fmt::format("{} limits now: the step waits for input {} of the time",
                                 waits ? "Input" : "Compute", share_text(wait_share));
  if (!result.ceiling) return text + ".";
  const double share = result.at_chosen.images_per_s / *result.ceiling;
  if (share >= 1) return text + ", and without input the rate is no higher.";
  text += fmt::format(", and the rate is {} of that without input", share_text(share));
  return text + (shares_cores && !waits ? ", with which it shares the cores." : ".");
}

}  // namespace

std::string settings_text(const TuneSettings& settings, bool names_batch) {
  const std::string input = fmt::format("workers {}, prefetch {}", settings.workers, settings.prefetch);
  return names_batch ? fmt::format("batch {}, {}", settings.batch_size, input) : input;
}

std::string trial_name(TrialKind kind, const TuneSettings& settings, bool names_batch) {
  if (kind == TrialKind::kWarmUp) return "warm-up";
  if (kind != TrialKind::kCeiling) return settings_text(settings, names_batch);
  return names_batch ? fmt::format("without input, batch {}", settings.batch_size) : "without input";
}

std::string failure_text(TrialKind kind, const TuneSettings& settings, const std::string& failure) {
  return fmt::format("{}: {}", trial_name(kind, settings, true), failure);
}

std::string trial_line(const Trial& trial, bool names_batch) {
  const std::string name = trial_name(trial.kind, trial.settings, names_batch);
  const int width = names_batch ? 35 : 24;
  const Measured& measured = trial.measured;
  if (!measured.failure.empty()) return fmt::format("{:<{}}  failed: {}", name, width, measured.failure);
  return fmt::format("{:<{}}  {:>6} images/s +/- {:>5}  {}", name, width, rounded(measured.images_per_s),
                     share_text(measured.plus_minus), meaning(trial));
}

std::vector<std::string> tune_sentences(const TuneResult& result, const TuneContext& context) {
  std::vector<std::string> sentences = {
      fmt::format("Equal trials differ by {} here: a setting counts as faster only by more than {}.",
                  share_text(result.difference), share_text(result.noise)),
      end_sentence(result), outcome_sentence(result, context.names_batch),
      limit_sentence(result, context.shares_cores)};
  const int64_t before = result.baseline.batch_size, after = result.chosen.batch_size;
  if (before != after) {
    sentences.push_back(fmt::format(
        "A batch of {} instead of {} changes what is learned: if --lr {} suits the one, its linear "
        "counterpart for the other is --lr {:.4g}; the configuration keeps {}.",
        after, before, context.lr, context.lr * static_cast<double>(after) / static_cast<double>(before),
        context.lr));
  }
  return sentences;
}

}  // namespace slipstream
