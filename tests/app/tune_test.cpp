// What tune reads of a trial, says and writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "app/batch_sizes.h"
#include "app/folder_bytes.h"
#include "app/json_file.h"
#include "app/scratch_folder.h"
#include "app/steady_rate.h"
#include "app/train_options_table.h"
#include "app/tune_line.h"
#include "app/tune_record.h"
#include "app/tune_text.h"
#include "data/error.h"
#include "tests/app/refusal.h"
#include "tests/support/test_support.h"

namespace slipstream {
namespace {
namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

StepRecord step(int64_t epoch, double begin_s, double wait_s, double compute_s) {
  StepRecord record{.epoch = epoch, .images = 10, .begin_s = begin_s};
  record.times.data_wait_s = wait_s;
  record.times.compute_s = compute_s;
  return record;
}

TEST(SteadyRate, LeavesTheWarmUpOutAndCountsAllThatPassesBetweenSteps) {
  // A slow first step; then a wait of 0.1 s, a step of 0.3 s, and 0.1 s in which the host did something else.
  const SteadyRate rate = steady_rate(
      {step(1, 5, 5, 2), step(1, 7.2, 0.1, 0.3), step(1, 7.7, 0.1, 0.3), step(1, 8.2, 0.1, 0.3)}, 1);
  EXPECT_DOUBLE_EQ(rate.images_per_s, 20);
  EXPECT_NEAR(rate.data_wait_share, 0.2, 1e-12);
  EXPECT_NEAR(rate.plus_minus, 0, 1e-6);
  EXPECT_NEAR(rate.seconds, 1.5, 1e-12);
}

TEST(SteadyRate, LeavesOutWhatLiesBetweenEpochs) {
  const SteadyRate rate =
      steady_rate({step(1, 0, 0, 1), step(1, 1, 0, 1), step(2, 60, 0.5, 0.5), step(2, 61, 0.5, 0.5)}, 1);
  EXPECT_NEAR(rate.images_per_s, 10.0 * 3 / 3, 1e-12);
}

TEST(SteadyRate, SaysByHowMuchItMayErr) {
  // Steps of 0.8 and 1.2 s in turn: their standard deviation is 0.2 * sqrt(4/3) with four of them.
  const SteadyRate rate = steady_rate(
      {step(1, 0, 0, 1), step(1, 1, 0, 0.8), step(1, 1.8, 0, 1.2), step(1, 3, 0, 0.8), step(1, 3.8, 0, 1.2)},
      1);
  EXPECT_NEAR(rate.images_per_s, 10, 1e-9);
  EXPECT_NEAR(rate.plus_minus, 2 * 0.2 * std::sqrt(4.0 / 3) / 2, 1e-9);
}

TEST(BatchSizes, AreListedOnceAndInOrder) {
  EXPECT_THAT(listed_batch_sizes("128,64,128", 1000), ElementsAre(64, 128));
  EXPECT_THAT(listed_batch_sizes("", 1000), IsEmpty());
  for (const char* wrong : {"x", "64,", "0", "-1", "64.5", "1e3", "65537", "64, 128"}) {
    EXPECT_THAT(test::refusal([&] { listed_batch_sizes(wrong, 1'000'000); }),
                HasSubstr("--batch-sizes takes whole numbers from 1 to 65536"))
        << wrong;
  }
  EXPECT_EQ(test::refusal([] { listed_batch_sizes("64,1001", 1000); }),
            "--batch-sizes: 1001 is more than the 1000 images that there are to train on.");
}

TEST(TuneLine, RefusesABatchThatTheImagesDoNotMake) {
  TuneLine line;
  line.options.batch_size = 64;
  EXPECT_THAT(line.limits(64).batch_sizes, IsEmpty());
  EXPECT_EQ(test::refusal([&] { line.limits(63); }),
            "--batch-size: 64 is more than the 63 images that there are to train on.");
}

TEST(TuneLine, RefusesTrialsThatAreTooLongForTheBudget) {
  const test::TemporaryFolder folder;
  TuneLine line;
  line.options.data = folder.path().string();
  line.budget = 180;
  line.trial = 30;
  EXPECT_EQ(
      test::refusal([&] { line.read(); }),
      "--trial 30: 7 trials are the least, and --budget 180 has no room for them; give a shorter --trial, "
      "or a larger --budget.");
  line.trial = 25;
  line.read();
  EXPECT_EQ(line.trial_s(), 25);
}

TEST(FolderBytes, AreEstimatedByAThousandFiles) {
  const test::TemporaryFolder folder;
  ImageFolder images{.root = folder.path().string(), .classes = {"a"}, .samples = {}};
  EXPECT_EQ(estimated_bytes(images), 0);
  test::write_text(folder.path() / "small.jpg", std::string(100, 'x'));
  test::write_text(folder.path() / "large.jpg", std::string(300, 'x'));
  images.samples = {{"small.jpg", 0}, {"large.jpg", 0}, {"missing.jpg", 0}};
  EXPECT_EQ(estimated_bytes(images), 400);
  images.samples.assign(5000, {"small.jpg", 0});
  EXPECT_EQ(estimated_bytes(images), 500'000);
}

TEST(ScratchFolder, IsGoneWithTheObject) {
  const test::TemporaryFolder folder;
  std::string path;
  {
    const ScratchFolder scratch((folder.path() / "new/tuned.json").string());
    path = scratch.path();
    EXPECT_THAT(path, testing::StartsWith((folder.path() / "new/tuned.json.").string()));
    test::write_text(path + "/file", "text");
  }
  EXPECT_FALSE(fs::exists(path));
  EXPECT_TRUE(fs::exists(folder.path() / "new"));
  test::write_text(folder.path() / "file", "text");
  EXPECT_THAT(test::refusal([&] { ScratchFolder((folder.path() / "file/tuned.json").string()); }),
              HasSubstr((folder.path() / "file").string()));
}

Trial candidate(double rate, double gain, bool wins) {
  return {.kind = TrialKind::kCandidate,
          .settings = {2, 4, 64},
          .measured = {.images_per_s = rate, .plus_minus = 0.0123},
          .gain = gain,
          .wins = wins};
}

TEST(TuneText, HasALineForATrial) {
  EXPECT_EQ(trial_line(candidate(131.2, 0.0861, true), false),
            "workers 2, prefetch 4        131 images/s +/-  1.2%  +8.6%: faster");
  EXPECT_EQ(trial_line(candidate(12345, 0.004, false), true),
            "batch 64, workers 2, prefetch 4      12,345 images/s +/-  1.2%  +0.4%: within the noise");
  EXPECT_THAT(trial_line(candidate(90, -0.1, false), false), testing::EndsWith("  -10.0%: no faster"));
  Trial trial = candidate(0, 0, false);
  trial.measured.failure = "The GPU's memory is full.";
  EXPECT_EQ(trial_line(trial, false), "workers 2, prefetch 4     failed: The GPU's memory is full.");
  trial = {.kind = TrialKind::kCeiling, .settings = {2, 4, 64}, .measured = {.images_per_s = 140}};
  EXPECT_EQ(trial_line(trial, false), "without input                140 images/s +/-  0.0%  the ceiling");
  EXPECT_EQ(trial_name(TrialKind::kCeiling, trial.settings, true), "without input, batch 64");
  EXPECT_EQ(trial_name(TrialKind::kWarmUp, trial.settings, true), "warm-up");
}

TuneResult result() {
  return {.baseline = {1, 4, 64},
          .found = {2, 8, 64},
          .chosen = {2, 8, 64},
          .at_baseline = {.images_per_s = 100, .data_wait_share = 0.5},
          .at_chosen = {.images_per_s = 190, .data_wait_share = 0.1},
          .confirmation = Confirmation::kFaster,
          .difference = 0.013,
          .noise = 0.013,
          .ceiling = 200,
          .end = TuneEnd::kNothingPays,
          .spent_s = 95,
          .trials = {candidate(190, 0.9, true)}};
}

TEST(TuneText, SaysWhatCameOfIt) {
  EXPECT_THAT(
      tune_sentences(result(), {}),
      ElementsAre("Equal trials differ by 1.3% here: a setting counts as faster only by more than 1.3%.",
                  "Neither more nor fewer workers or batches ahead are faster than workers 2, prefetch 8.",
                  "workers 2, prefetch 8 is 90.0% faster than workers 1, prefetch 4: 190 images/s against "
                  "100, measured in turn.",
                  "Input limits now: the step waits for input 10.0% of the time, and the rate is 95.0% of "
                  "that without input."));
}

TEST(TuneText, SaysWhatWasMeasuredOfTheNoise) {
  TuneResult quiet = result();
  quiet.difference = 0.003;
  quiet.noise = 0.01;
  EXPECT_EQ(tune_sentences(quiet, {}).at(0),
            "Equal trials differ by 0.3% here: a setting counts as faster only by more than 1.0%.");
}

TEST(TuneText, SaysWhatWasNotTried) {
  const auto end = [](bool most_workers, bool most_prefetch) {
    TuneResult limited = result();
    limited.most_workers = most_workers;
    limited.most_prefetch = most_prefetch;
    return tune_sentences(limited, {}).at(1);
  };
  EXPECT_EQ(end(true, false),
            "Nothing that was tried is faster than workers 2, prefetch 8; more workers were not tried.");
  EXPECT_THAT(end(false, true), testing::EndsWith("; more batches ahead were not tried."));
  EXPECT_THAT(end(true, true), testing::EndsWith("; more of either was not tried."));
}

TEST(TuneText, SaysWhatStaysAndWhy) {
  const auto outcome = [](Confirmation confirmation) {
    TuneResult stays = result();
    stays.confirmation = confirmation;
    stays.chosen = stays.baseline;
    return tune_sentences(stays, {}).at(2);
  };
  EXPECT_EQ(
      outcome(Confirmation::kNotFaster),
      "workers 2, prefetch 8 was the fastest of the search, but wasn't once more, so workers 1, prefetch 4 "
      "stays.");
  EXPECT_THAT(outcome(Confirmation::kUnconfirmed), HasSubstr("the budget left no room to confirm that"));
  EXPECT_EQ(outcome(Confirmation::kFailed),
            "workers 2, prefetch 8 seemed faster, but a trial that was to confirm that failed, so workers 1, "
            "prefetch 4 stays.");
  EXPECT_EQ(outcome(Confirmation::kNotNeeded), "workers 1, prefetch 4 stays, where the search began.");
}

TEST(TuneText, SaysWhyItEndedAndWhatLimits) {
  TuneResult other = result();
  other.end = TuneEnd::kAtCeiling;
  other.at_chosen.data_wait_share = 0.004;
  EXPECT_THAT(tune_sentences(other, {}).at(1), HasSubstr("Input is hidden with workers 2, prefetch 8"));
  EXPECT_EQ(
      tune_sentences(other, {.shares_cores = true}).at(3),
      "Compute limits now: the step waits for input 0.4% of the time, and the rate is 95.0% of that without "
      "input, with which it shares the cores.");
  other.ceiling = 190;
  EXPECT_THAT(tune_sentences(other, {}).at(3),
              testing::EndsWith(", and without input the rate is no higher."));
  other.end = TuneEnd::kOutOfBudget;
  other.ceiling.reset();
  EXPECT_THAT(tune_sentences(other, {}).at(1), HasSubstr("a larger --budget would try more"));
  EXPECT_EQ(tune_sentences(other, {}).at(3),
            "Compute limits now: the step waits for input 0.4% of the time.");
}

TEST(TuneText, ScalesTheLearningRateAsAHintAlone) {
  TuneResult larger = result();
  larger.chosen.batch_size = 256;
  const auto sentences = tune_sentences(larger, {.names_batch = true, .lr = 0.1});
  ASSERT_EQ(sentences.size(), 5U);
  EXPECT_EQ(sentences[4],
            "A batch of 256 instead of 64 changes what is learned: if --lr 0.1 suits the one, its linear "
            "counterpart for the other is --lr 0.4; the configuration keeps 0.1.");
}

TEST(TuneRecord, HasAllThatWasMeasured) {
  const Json record = tune_record(result());
  EXPECT_EQ(record.at("end"), "nothing pays");
  EXPECT_EQ(record.at("confirmed"), true);
  EXPECT_EQ(record.at("baseline"), (Json{{"batch_size", 64},
                                         {"workers", 1},
                                         {"prefetch", 4},
                                         {"images_per_s", 100.0},
                                         {"data_wait_share", 0.5}}));
  EXPECT_EQ(record.at("chosen").at("prefetch"), 8);
  EXPECT_EQ(record.at("ceiling_images_per_s"), 200.0);
  EXPECT_EQ(record.at("noise"), 0.013);
  ASSERT_EQ(record.at("trials").size(), 1U);
  const Json& trial = record.at("trials")[0];
  EXPECT_EQ(trial.at("kind"), "candidate");
  EXPECT_EQ(trial.at("workers"), 2);
  EXPECT_EQ(trial.at("gain"), 0.9);
  EXPECT_EQ(trial.at("faster"), true);
  EXPECT_TRUE(trial.at("failure").is_null());
}

TEST(TuneRecord, SaysWhyATrialHasNoRate) {
  TuneResult failed = result();
  failed.trials[0].measured.failure = "No memory.";
  const Json trial = tune_record(failed).at("trials")[0];
  EXPECT_EQ(trial.at("failure"), "No memory.");
  EXPECT_TRUE(trial.at("images_per_s").is_null());
}

TEST(TunedConfig, IsWhatWasAskedForAndWhatWasFound) {
  TrainOptions options;
  options.data = "images";
  options.lr = 0.02;
  options.amp = Amp::kFp16;
  const Json config = tuned_config(options, {6, 8, 256});
  EXPECT_EQ(config, (Json{{"data", "images"},
                          {"lr", 0.02},
                          {"amp", "fp16"},
                          {"batch_size", 256},
                          {"workers", 6},
                          {"prefetch", 8}}));

  const test::TemporaryFolder folder;
  const std::string file = (folder.path() / "tuned.json").string();
  write_json(file, config);
  TrainOptions read;
  OptionTable table = train_options_table(read);
  table.read_file(file);
  options.batch_size = 256;
  options.workers = 6;
  options.prefetch = 8;
  EXPECT_EQ(table.json(), train_options_table(options).json());
}

}  // namespace
}  // namespace slipstream
