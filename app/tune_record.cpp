#include "app/tune_record.h"

#include "app/train_options_table.h"

namespace slipstream {
namespace {

const char* name_of(TrialKind kind) {
  switch (kind) {
    case TrialKind::kWarmUp:
      return "warm-up";
    case TrialKind::kCeiling:
      return "ceiling";
    case TrialKind::kBaseline:
      return "baseline";
    case TrialKind::kConfirmation:
      return "confirmation";
    case TrialKind::kCandidate:
      break;
  }
  return "candidate";
}

const char* name_of(TuneEnd end) {
  switch (end) {
    case TuneEnd::kAtCeiling:
      return "at the ceiling";
    case TuneEnd::kOutOfBudget:
      return "out of budget";
    case TuneEnd::kNothingPays:
      break;
  }
  return "nothing pays";
}

Json number(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

Json rate_record(const Measured& measured) {
  return {{"images_per_s", measured.images_per_s}, {"data_wait_share", measured.data_wait_share}};
}

Json trial_record(const Trial& trial) {
  Json record = {{"kind", name_of(trial.kind)}};
  record.update(settings_record(trial.settings));
  const Measured& measured = trial.measured;
  const bool has_rate = measured.failure.empty();
  record["images_per_s"] = has_rate ? Json(measured.images_per_s) : Json();
  record["plus_minus"] = has_rate ? Json(measured.plus_minus) : Json();
  record["data_wait_share"] = has_rate ? Json(measured.data_wait_share) : Json();
  record["took_s"] = measured.took_s;
  record["gain"] = number(trial.gain);
  record["faster"] = trial.wins;
  record["failure"] = has_rate ? Json() : Json(measured.failure);
  return record;
}

}  // namespace

Json settings_record(const TuneSettings& settings) {
  return {
      {"batch_size", settings.batch_size}, {"workers", settings.workers}, {"prefetch", settings.prefetch}};
}

Json tune_record(const TuneResult& result) {
  const auto with_rate = [](const TuneSettings& settings, const Measured& measured) {
    Json record = settings_record(settings);
    record.update(rate_record(measured));
    return record;
  };
  Json trials = Json::array();
  for (const Trial& trial : result.trials) trials.push_back(trial_record(trial));
  return {{"end", name_of(result.end)},
          {"confirmed", result.confirmation == Confirmation::kFaster},
          {"baseline", with_rate(result.baseline, result.at_baseline)},
          {"chosen", with_rate(result.chosen, result.at_chosen)},
          {"ceiling_images_per_s", number(result.ceiling)},
          {"noise", result.noise},
          {"spent_s", result.spent_s},
          {"trials", trials}};
}

Json tuned_config(const TrainOptions& options, const TuneSettings& chosen) {
  TrainOptions given = options, defaults;
  const Json usual = train_options_table(defaults).json();
  Json config = Json::object();
  const Json all = train_options_table(given).json();
  for (const auto& [key, value] : all.items()) {
    if (usual.at(key) != value) config[key] = value;
  }
  config.update(settings_record(chosen));
  return config;
}

}  // namespace slipstream
