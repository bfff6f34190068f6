// The search, on machines that exist only here.
#include "app/tune_search.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "tests/app/refusal.h"

namespace slipstream {
namespace {
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

/// A machine whose rate is a function of the settings; each trial takes 10 s of no real time.
class Machine {
 public:
  std::function<double(const TuneSettings&)> rate = [](const TuneSettings&) { return 100.0; };
  std::function<void(TrialKind, const TuneSettings&, Measured&)> twist = [](auto...) {};
  double ceiling = 1e6, trial_s = 10;
  TuneLimits limits = {.budget_s = 1000, .most_workers = 16, .most_prefetch = 16, .batch_sizes = {}};

  TuneResult tune(const TuneSettings& start) {
    log.clear();
    spent_s = 0;
    const auto measure = [this](TrialKind kind, const TuneSettings& settings, double timeout_s) {
      EXPECT_LE(timeout_s, limits.budget_s - spent_s + 1e-9);
      Measured measured = {.images_per_s = kind == TrialKind::kCeiling ? ceiling : rate(settings),
                           .took_s = trial_s,
                           .again_s = trial_s};
      twist(kind, settings, measured);
      spent_s += measured.took_s;
      return measured;
    };
    return TuneSearch(limits, measure, [this](const Trial& trial) { log.push_back(text(trial)); }).run(start);
  }

  /// "? 2/4/64 +", a letter for the kind, workers/prefetch/batch, and "+" for a winner.
  static std::string text(const Trial& trial) {
    const char kind = "WCB?="[static_cast<size_t>(trial.kind)];
    return fmt::format("{} {}/{}/{}{}", kind, trial.settings.workers, trial.settings.prefetch,
                       trial.settings.batch_size, trial.wins ? " +" : "");
  }

  std::vector<std::string> log;
  double spent_s = 0;
};

constexpr TuneSettings kStart = {.workers = 1, .prefetch = 4, .batch_size = 64};

double knee_at_four(const TuneSettings& settings) {
  return 100.0 * static_cast<double>(std::min<int64_t>(settings.workers, 4));
}

TEST(TuneSearch, StopsAtTheKnee) {
  Machine machine;
  machine.rate = knee_at_four;
  const TuneResult result = machine.tune(kStart);
  EXPECT_THAT(machine.log, ElementsAre("W 1/4/64", "C 1/4/64", "B 1/4/64", "B 1/4/64", "? 2/4/64 +",
                                       "? 4/4/64 +", "? 8/4/64", "? 4/8/64", "? 4/2/64", "= 1/4/64",
                                       "= 4/4/64", "= 1/4/64", "= 4/4/64"));
  EXPECT_EQ(result.chosen, (TuneSettings{4, 4, 64}));
  EXPECT_EQ(result.baseline, kStart);
  EXPECT_EQ(result.confirmation, Confirmation::kFaster);
  EXPECT_EQ(result.end, TuneEnd::kNothingPays);
  EXPECT_EQ(result.at_baseline.images_per_s, 100);
  EXPECT_EQ(result.at_chosen.images_per_s, 400);
  EXPECT_EQ(result.difference, 0);
  EXPECT_EQ(result.noise, 0.01);
  EXPECT_EQ(result.ceiling, 1e6);
  EXPECT_EQ(result.spent_s, 130);
  ASSERT_THAT(result.trials, SizeIs(13));
  EXPECT_EQ(result.trials[4].gain, 1);
  EXPECT_EQ(result.trials[6].gain, 0);
  EXPECT_FALSE(result.trials[3].gain);
}

TEST(TuneSearch, HalvesWhereMoreIsSlower) {
  Machine machine;
  machine.rate = [](const TuneSettings& settings) { return 100.0 / static_cast<double>(settings.workers); };
  const TuneResult result = machine.tune({.workers = 3, .prefetch = 1, .batch_size = 8});
  EXPECT_EQ(result.chosen, (TuneSettings{1, 1, 8}));
  // From 3 up to 6, down to 1, where nothing is left; of prefetch 1, 2 alone.
  EXPECT_THAT(machine.log, ElementsAre("W 3/1/8", "C 3/1/8", "B 3/1/8", "B 3/1/8", "? 6/1/8", "? 1/1/8 +",
                                       "? 1/2/8", "= 3/1/8", "= 1/1/8", "= 3/1/8", "= 1/1/8"));
}

TEST(TuneSearch, StaysWithinItsLimits) {
  Machine machine;
  machine.limits.most_workers = 6;
  machine.limits.most_prefetch = 4;
  machine.rate = [](const TuneSettings& settings) { return static_cast<double>(settings.workers); };
  TuneResult result = machine.tune({.workers = 4, .prefetch = 4, .batch_size = 8});
  EXPECT_EQ(result.chosen.workers, 6);
  EXPECT_TRUE(result.most_workers);
  EXPECT_TRUE(result.most_prefetch);
  // More than the limit was asked for: no smaller one is called an increase.
  EXPECT_EQ(machine.tune({.workers = 9, .prefetch = 4, .batch_size = 8}).chosen.workers, 9);
  EXPECT_THAT(machine.log, testing::Contains("? 4/4/8"));
  machine.rate = [](auto...) { return 100.0; };
  result = machine.tune({.workers = 3, .prefetch = 2, .batch_size = 8});
  EXPECT_THAT(machine.log, testing::IsSupersetOf({"? 6/2/8", "? 3/4/8"}));
  EXPECT_FALSE(result.most_workers);
  EXPECT_FALSE(result.most_prefetch);
}

TEST(TuneSearch, TriesWorkersAgainWithAnotherPrefetch) {
  Machine machine;
  machine.rate = [](const TuneSettings& settings) {
    return settings.prefetch >= 8 ? knee_at_four(settings) : 50.0;
  };
  EXPECT_EQ(machine.tune(kStart).chosen, (TuneSettings{4, 8, 64}));
}

TEST(TuneSearch, EndsAtTheCeiling) {
  Machine machine;
  machine.rate = knee_at_four;
  machine.ceiling = 408;
  const TuneResult result = machine.tune(kStart);
  EXPECT_EQ(result.end, TuneEnd::kAtCeiling);
  EXPECT_EQ(result.chosen.workers, 4);
  EXPECT_THAT(machine.log, testing::Not(testing::Contains("? 8/4/64")));
  EXPECT_THAT(machine.log, testing::Not(testing::Contains("? 4/8/64")));
  EXPECT_EQ(result.ceiling, 408);
}

TEST(TuneSearch, HasNothingToGainWhereInputIsHidden) {
  Machine machine;
  machine.ceiling = 101;
  const TuneResult result = machine.tune(kStart);
  EXPECT_THAT(machine.log, ElementsAre("W 1/4/64", "C 1/4/64", "B 1/4/64", "B 1/4/64"));
  EXPECT_EQ(result.end, TuneEnd::kAtCeiling);
  EXPECT_EQ(result.confirmation, Confirmation::kNotNeeded);
  EXPECT_EQ(result.chosen, kStart);
}

TEST(TuneSearch, GoesOnWhereTheCeilingIsInDoubt) {
  Machine machine;
  machine.ceiling = 101;
  machine.twist = [](TrialKind kind, const TuneSettings&, Measured& measured) {
    if (kind == TrialKind::kCeiling) measured.plus_minus = 0.1;
  };
  EXPECT_EQ(machine.tune(kStart).end, TuneEnd::kNothingPays);
  EXPECT_THAT(machine.log, testing::Contains("? 2/4/64"));
}

TEST(TuneSearch, GoesOnWithoutACeilingThatFails) {
  Machine machine;
  machine.twist = [](TrialKind kind, const TuneSettings&, Measured& measured) {
    if (kind == TrialKind::kCeiling) measured = {.images_per_s = 1, .took_s = 4, .failure = "No memory."};
  };
  const TuneResult result = machine.tune(kStart);
  EXPECT_THAT(machine.log, testing::IsSupersetOf({"? 2/4/64", "? 1/8/64", "? 1/2/64"}));
  EXPECT_EQ(result.end, TuneEnd::kNothingPays);
  EXPECT_FALSE(result.ceiling);
  EXPECT_EQ(result.trials[1].measured.failure, "No memory.");
}

TEST(TuneSearch, TakesNoiseForNoGain) {
  Machine machine;
  std::vector<double> rates = {104, 100, 108};  // of the baseline
  machine.rate = [](const TuneSettings& settings) { return settings.workers == 2 ? 111.0 : 100.0; };
  machine.twist = [&](TrialKind kind, const TuneSettings&, Measured& measured) {
    if (kind != TrialKind::kBaseline) return;
    measured.images_per_s = rates.back();
    rates.pop_back();
  };
  const TuneResult result = machine.tune(kStart);
  EXPECT_TRUE(rates.empty()) << "two that differ much are too few";
  EXPECT_DOUBLE_EQ(result.difference, 8.0 / 104);
  EXPECT_EQ(result.noise, result.difference);
  EXPECT_EQ(result.at_baseline.images_per_s, 104);
  EXPECT_EQ(result.chosen, kStart);
  EXPECT_NEAR(*result.trials[5].gain, 7.0 / 104, 1e-12);
  EXPECT_FALSE(result.trials[5].wins);
}

TEST(TuneSearch, TakesStepsThatVaryForNoGain) {
  Machine machine;
  machine.rate = [](const TuneSettings& settings) { return settings.workers == 2 ? 110.0 : 100.0; };
  machine.twist = [](TrialKind, const TuneSettings& settings, Measured& measured) {
    measured.plus_minus = settings.workers == 2 ? 0.12 : 0.002;
  };
  EXPECT_EQ(machine.tune(kStart).found, kStart);
  machine.twist = [](auto...) {};
  EXPECT_EQ(machine.tune(kStart).found.workers, 2);
}

TEST(TuneSearch, KeepsTheBaselineUnlessTheWinnerWinsAgain) {
  Machine machine;
  machine.rate = knee_at_four;
  machine.twist = [](TrialKind kind, const TuneSettings&, Measured& measured) {
    if (kind == TrialKind::kConfirmation) measured.images_per_s = 250;
  };
  TuneResult result = machine.tune(kStart);
  EXPECT_EQ(result.confirmation, Confirmation::kNotFaster);
  EXPECT_EQ(result.found.workers, 4);
  EXPECT_EQ(result.chosen, kStart);
  EXPECT_EQ(result.at_chosen.images_per_s, 250);

  machine.twist = [](TrialKind kind, const TuneSettings&, Measured& measured) {
    if (kind == TrialKind::kConfirmation) measured.failure = "It broke.";
  };
  result = machine.tune(kStart);
  EXPECT_EQ(result.confirmation, Confirmation::kFailed);
  EXPECT_EQ(result.chosen, kStart);

  machine.twist = [](TrialKind kind, const TuneSettings&, Measured& measured) {
    measured.timed_out = kind == TrialKind::kConfirmation;
    if (measured.timed_out) measured.failure = "It took more than 10.0 s.";
  };
  EXPECT_EQ(machine.tune(kStart).confirmation, Confirmation::kUnconfirmed);
}

TEST(TuneSearch, TunesInputForTheBatchThatWins) {
  Machine machine;
  machine.limits.batch_sizes = {32, 64, 128};
  // A batch of 128 computes faster, and then needs more workers.
  machine.rate = [](const TuneSettings& settings) {
    const double compute = settings.batch_size == 128 ? 400 : 200;
    return std::min(compute, 150.0 * static_cast<double>(settings.workers));
  };
  machine.twist = [](TrialKind kind, const TuneSettings& settings, Measured& measured) {
    if (kind == TrialKind::kCeiling) measured.images_per_s = settings.batch_size == 128 ? 400 : 200;
  };
  const TuneResult result = machine.tune(kStart);
  EXPECT_THAT(machine.log, ElementsAre("W 1/4/64", "C 1/4/64", "B 1/4/64", "B 1/4/64", "? 2/4/64 +",
                                       "? 2/4/32", "? 2/4/128 +", "C 2/4/128", "? 4/4/128 +", "= 1/4/64",
                                       "= 4/4/128", "= 1/4/64", "= 4/4/128"));
  EXPECT_EQ(result.chosen, (TuneSettings{4, 4, 128}));
  EXPECT_EQ(result.ceiling, 400);
  EXPECT_EQ(result.end, TuneEnd::kAtCeiling);
}

TEST(TuneSearch, SkipsABatchThatMemoryDoesNotHoldAndAllLargerOnes) {
  Machine machine;
  machine.ceiling = 100;
  machine.limits.batch_sizes = {32, 128, 256, 512};
  machine.twist = [](TrialKind, const TuneSettings& settings, Measured& measured) {
    if (settings.batch_size >= 128) measured = {.took_s = 4, .failure = "The GPU's memory is full."};
  };
  const TuneResult result = machine.tune(kStart);
  EXPECT_EQ(result.chosen, kStart);
  ASSERT_THAT(result.trials, SizeIs(8));
  EXPECT_EQ(result.trials[4].settings.batch_size, 32);
  EXPECT_EQ(result.trials[5].measured.failure, "The GPU's memory is full.");
  EXPECT_EQ(result.trials[6].measured.failure, "Not tried: a batch of 128 failed.");
  EXPECT_EQ(result.trials[7].measured.failure, "Not tried: a batch of 128 failed.");
  EXPECT_EQ(result.trials[7].settings.batch_size, 512);
  EXPECT_EQ(result.spent_s, 54);
}

TEST(TuneSearch, TakesABatchThatRanOutOfTimeForNoFailure) {
  Machine machine;
  machine.ceiling = 100;
  machine.limits = {.budget_s = 100, .most_workers = 16, .most_prefetch = 16, .batch_sizes = {128, 256}};
  machine.twist = [](TrialKind, const TuneSettings& settings, Measured& measured) {
    if (settings.batch_size == 64) return;
    measured = {.took_s = 40, .failure = "It took more than 40.0 s.", .timed_out = true};
  };
  const TuneResult result = machine.tune(kStart);
  EXPECT_THAT(machine.log, ElementsAre("W 1/4/64", "C 1/4/64", "B 1/4/64", "B 1/4/64", "? 1/4/128"));
  EXPECT_EQ(result.end, TuneEnd::kOutOfBudget);
  EXPECT_EQ(result.chosen, kStart);
}

TEST(TuneSearch, EndsForWantOfTimeWhereACandidateRanOutOfIt) {
  Machine machine;
  machine.twist = [](TrialKind, const TuneSettings& settings, Measured& measured) {
    if (settings.workers == 2) measured = {.took_s = 4, .failure = "It took more.", .timed_out = true};
  };
  EXPECT_EQ(machine.tune(kStart).end, TuneEnd::kOutOfBudget);
}

TEST(TuneSearch, KeepsTimeForTheConfirmation) {
  Machine machine;
  machine.rate = knee_at_four;
  machine.limits.budget_s = 75;
  const TuneResult result = machine.tune(kStart);
  EXPECT_THAT(machine.log, ElementsAre("W 1/4/64", "C 1/4/64", "B 1/4/64", "B 1/4/64", "? 2/4/64 +",
                                       "= 1/4/64", "= 2/4/64"));
  EXPECT_EQ(result.end, TuneEnd::kOutOfBudget);
  EXPECT_EQ(result.confirmation, Confirmation::kFaster);
  EXPECT_EQ(result.chosen.workers, 2);
  EXPECT_LE(result.spent_s, 75);
}

TEST(TuneSearch, KeepsWhatIsUnconfirmedForWantOfTime) {
  Machine machine;
  machine.rate = knee_at_four;
  machine.limits.budget_s = 75;
  machine.twist = [](TrialKind kind, const TuneSettings&, Measured& measured) {
    if (kind == TrialKind::kCandidate) measured.took_s = 30;
  };
  const TuneResult result = machine.tune(kStart);
  EXPECT_EQ(result.confirmation, Confirmation::kUnconfirmed);
  EXPECT_EQ(result.found.workers, 2);
  EXPECT_EQ(result.chosen, kStart);
}

TEST(TuneSearch, KeepsTimeForAWinnerWhoseTrialsTakeLonger) {
  Machine machine;
  machine.limits.budget_s = 110;
  machine.limits.batch_sizes = {128, 256};
  machine.ceiling = 101;
  machine.rate = [](const TuneSettings& settings) { return static_cast<double>(settings.batch_size + 36); };
  machine.twist = [](TrialKind kind, const TuneSettings& settings, Measured& measured) {
    if (kind == TrialKind::kCeiling || settings.batch_size == 64) return;
    measured.took_s = measured.again_s = 25;
  };
  const TuneResult result = machine.tune(kStart);
  // 65 s are gone and 35 s to be kept: 10 s are too few for a candidate of 25.
  EXPECT_THAT(machine.log, ElementsAre("W 1/4/64", "C 1/4/64", "B 1/4/64", "B 1/4/64", "? 1/4/128 +",
                                       "= 1/4/64", "= 1/4/128"));
  EXPECT_EQ(result.end, TuneEnd::kOutOfBudget);
  EXPECT_EQ(result.confirmation, Confirmation::kFaster);
  EXPECT_EQ(result.chosen.batch_size, 128);
  EXPECT_EQ(result.spent_s, 100);
}

TEST(TuneSearch, ExpectsWhatTrialsTakeAsARule) {
  Machine machine;
  machine.rate = knee_at_four;
  machine.limits.budget_s = 200;
  // Cold files; then kernels are chosen for a batch size that is new.
  machine.twist = [](TrialKind kind, const TuneSettings& settings, Measured& measured) {
    if (kind == TrialKind::kWarmUp) measured.took_s = 60;
    if (kind == TrialKind::kCandidate && settings.workers == 2) measured.took_s = 45;
  };
  const TuneResult result = machine.tune(kStart);
  EXPECT_THAT(machine.log, testing::Contains("? 8/4/64"));
  EXPECT_EQ(result.chosen.workers, 4);
  EXPECT_LE(result.spent_s, 200);
}

TEST(TuneSearch, SaysWhatABudgetMustBe) {
  Machine machine;
  machine.limits.budget_s = 60;
  EXPECT_EQ(
      test::refusal([&] { machine.tune(kStart); }),
      "--budget 60: too little to find anything here: 10.0 s are gone, and 6 trials more, of about 10.0 s "
      "each, are the least. Give --budget 77, or a smaller --batch-size or --image-size.");
  EXPECT_THAT(machine.log, ElementsAre("W 1/4/64"));
  machine.limits.budget_s = 77;
  EXPECT_EQ(machine.tune(kStart).chosen, kStart);
  // A start-up that isn't in the steps shows in the second trial.
  machine.twist = [](TrialKind, const TuneSettings&, Measured& measured) {
    measured.took_s = 20;
    measured.again_s = 5;
  };
  EXPECT_THAT(test::refusal([&] { machine.tune(kStart); }),
              HasSubstr("40.0 s are gone, and 5 trials more, of about 20.0 s each,"));
  EXPECT_THAT(machine.log, SizeIs(2));

  machine.twist = [](TrialKind, const TuneSettings&, Measured& measured) {
    measured = {.took_s = 77, .failure = "It took more than 77.0 s.", .timed_out = true, .again_s = 100};
  };
  EXPECT_THAT(test::refusal([&] { machine.tune(kStart); }),
              HasSubstr("6 trials more, of about 100.0 s each,"));
  machine.twist = [](TrialKind, const TuneSettings&, Measured& measured) {
    measured = {.took_s = 77, .failure = "It took more than 77.0 s.", .timed_out = true};
  };
  EXPECT_THAT(test::refusal([&] { machine.tune(kStart); }), HasSubstr("too few steps of training end in it"));
}

TEST(TuneSearch, AdvisesABudgetThatWouldHaveBeenEnough) {
  Machine machine;
  machine.limits.budget_s = 80;
  machine.twist = [](TrialKind kind, const TuneSettings&, Measured& measured) {
    if (kind == TrialKind::kWarmUp) measured.took_s = 60;  // cold files
    measured.again_s = 5;
  };
  EXPECT_THAT(test::refusal([&] { machine.tune(kStart); }), HasSubstr("Give --budget 99,"));
  machine.limits.budget_s = 99;
  EXPECT_THAT(
      test::refusal([&] { machine.tune(kStart); }),
      HasSubstr(
          "70.0 s are gone, and 5 trials more, of about 10.0 s each, are the least. Give --budget 132,"));
  machine.limits.budget_s = 132;
  EXPECT_EQ(machine.tune(kStart).chosen, kStart);
}

TEST(TuneSearch, FailsIfTheTrainingDoes) {
  Machine machine;
  machine.twist = [](TrialKind, const TuneSettings&, Measured& measured) {
    measured.failure = "images/a.jpg: is no image.";
  };
  EXPECT_EQ(test::refusal([&] { machine.tune(kStart); }), "warm-up: images/a.jpg: is no image.");
  machine.twist = [](TrialKind kind, const TuneSettings&, Measured& measured) {
    if (kind == TrialKind::kBaseline) measured.failure = "It took more than 12.3 s.";
  };
  EXPECT_EQ(test::refusal([&] { machine.tune(kStart); }),
            "batch 64, workers 1, prefetch 4: It took more than 12.3 s.");
}

}  // namespace
}  // namespace slipstream
