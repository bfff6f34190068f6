// A trial and the process behind it; a shell script stands for `slipstream train`.
#include "app/tune_meter.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <sstream>

#include "app/json_file.h"
#include "pipeline/stop_signal.h"
#include "pipeline/train_options.h"
#include "tests/support/test_support.h"

namespace slipstream {
namespace {
namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr TuneSettings kSettings = {.workers = 3, .prefetch = 4, .batch_size = 10};

class TuneMeterTest : public testing::Test {
 protected:
  TuneMeterTest() {
    training_.data = "images";
    training_.seed = 7;
    training_.trace = "auto";
    training_.weights = "model.pt";
    options_ = {.executable = path("train.sh"), .scratch = path("scratch"), .trial_s = 0.2};
  }

  /// $D is the run's folder. The configuration is kept as seen.json.
  void script(const std::string& body) const {
    test::write_text(options_.executable,
                     fmt::format("#!/bin/sh\nD=$(dirname $3)\ncp $3 {}\n{}\n", path("seen.json"), body));
    fs::permissions(options_.executable, fs::perms::owner_all);
  }
  /// A file of `count` steps of 10 images: the first five of 2 s, the others after a wait.
  std::string steps(int count, double later_wait_s = 0.1, double later_compute_s = 0.4) const {
    std::string lines;
    double now = 0;
    for (int i = 1; i <= count; ++i) {
      const double wait_s = i <= 5 ? 0 : later_wait_s, compute_s = i <= 5 ? 2 : later_compute_s;
      lines += fmt::format(
          R"({{"epoch":1,"step":{},"images":10,"loss":1,"lr":0.1,"begin_s":{},"read_s":0,"decode_s":0,)"
          R"("resize_s":0,"h2d_s":0,"compute_s":{},"data_wait_s":{}}})"
          "\n",
          i, now + wait_s, compute_s, wait_s);
      now += wait_s + compute_s;
    }
    test::write_text(path("steps.jsonl"), lines);
    return path("steps.jsonl");
  }
  Measured measure(TrialKind kind = TrialKind::kCandidate, double timeout_s = 60,
                   ProgressLine* progress = nullptr) {
    const StopSignal stop_signal;
    if (!meter_) meter_.emplace(training_, options_, console_of_stdout());
    return meter_->measure(kind, kSettings, timeout_s, progress);
  }
  Json seen() const { return read_json_object(path("seen.json")); }
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

  test::TemporaryFolder folder_;
  TrainOptions training_;
  TuneMeterOptions options_;
  std::optional<TuneMeter> meter_;
};

TEST_F(TuneMeterTest, EndsATrialThatHasGoneOnForLongEnoughAndLeavesTheWarmUpOut) {
  script("cp " + steps(25) + " $D/steps.jsonl; exec sleep 100");
  const Measured measured = measure();
  EXPECT_EQ(measured.failure, "");
  EXPECT_NEAR(measured.images_per_s, 20, 1e-9);
  EXPECT_NEAR(measured.data_wait_share, 0.2, 1e-9);
  EXPECT_NEAR(measured.plus_minus, 0, 1e-6);
  EXPECT_GE(measured.took_s, 0.2);
  EXPECT_LT(measured.took_s, 60);
  EXPECT_NEAR(measured.again_s, 5, 1e-9) << "10 steps of half a second";
}

TEST_F(TuneMeterTest, TrainsWithTheSettingsUntilItIsStopped) {
  script("cp " + steps(25) + " $D/steps.jsonl; exec sleep 100");
  measure();
  const Json config = seen();
  EXPECT_EQ(config.at("workers"), 3);
  EXPECT_EQ(config.at("prefetch"), 4);
  EXPECT_EQ(config.at("batch_size"), 10);
  EXPECT_EQ(config.at("synthetic"), false);
  EXPECT_EQ(config.at("seed"), 7);
  EXPECT_EQ(config.at("train_dir"), "images/train");
  EXPECT_EQ(config.at("data"), "") << "else it would validate";
  EXPECT_EQ(config.at("trace"), "");
  EXPECT_EQ(config.at("epochs"), 1'000'000);
  EXPECT_EQ(config.at("alone_seconds"), 0);
  EXPECT_EQ(config.at("weights"), "model.pt");
  measure(TrialKind::kCeiling);
  EXPECT_EQ(seen().at("synthetic"), true);
  EXPECT_EQ(seen().at("weights"), "") << "they are for the folder's classes, which it hasn't";
}

TEST_F(TuneMeterTest, ReadsOtherImagesInEachTrialWhereItIsTold) {
  options_.other_images = true;
  script("cp " + steps(25) + " $D/steps.jsonl; exec sleep 100");
  measure();
  const Json first = seen().at("seed");
  measure();
  EXPECT_NE(seen().at("seed"), first);
}

TEST_F(TuneMeterTest, WaitsForEnoughSteps) {
  options_.trial_s = 0;
  const std::string few = steps(9);
  fs::rename(few, path("few.jsonl"));
  script(fmt::format("cp {} $D/steps.jsonl; sleep 1; cp {} $D/steps.jsonl; exec sleep 100", path("few.jsonl"),
                     steps(10)));
  const Measured measured = measure();
  EXPECT_GE(measured.took_s, 1);
  // The fifth step of 2 s, which is after the four that fill the ring, and five others.
  EXPECT_NEAR(measured.images_per_s, 60 / 4.5, 1e-9);
}

TEST_F(TuneMeterTest, WaitsForStepsThatTakeLongEnough) {
  options_.trial_s = 2;
  const std::string fast = steps(25, 0.01, 0.04);
  fs::rename(fast, path("fast.jsonl"));
  script(fmt::format("cp {} $D/steps.jsonl; sleep 3; cp {} $D/steps.jsonl; exec sleep 100",
                     path("fast.jsonl"), steps(65, 0.01, 0.04)));
  const Measured measured = measure();
  EXPECT_GE(measured.took_s, 3) << "20 steps of 0.05 s are no 2 s";
  EXPECT_NEAR(measured.images_per_s, 200, 1e-9);
}

TEST_F(TuneMeterTest, CountsATrialThatTimeEndedWithEnoughSteps) {
  options_.trial_s = 100;
  script("cp " + steps(25) + " $D/steps.jsonl; exec sleep 100");
  const Measured measured = measure(TrialKind::kCandidate, /*timeout_s=*/0.5);
  EXPECT_EQ(measured.failure, "");
  EXPECT_FALSE(measured.timed_out);
  EXPECT_NEAR(measured.images_per_s, 20, 1e-9);
  EXPECT_GE(measured.took_s, 0.5);
}

TEST_F(TuneMeterTest, ShowsWhatItDoesWithinTheTerminalsColumns) {
  options_.trial_s = 0.5;
  script("cp " + steps(25) + " $D/steps.jsonl; exec sleep 100");
  Console console = console_of_stdout();
  console.terminal = true;
  console.columns = [] { return 20; };
  std::ostringstream shown;
  ProgressLine progress(shown, console);
  measure(TrialKind::kCandidate, 60, &progress);
  EXPECT_THAT(shown.str(), testing::StartsWith("\rbatch 10, workers 3\x1b[K"));
}

TEST_F(TuneMeterTest, HasTheSentenceOfATrainingThatFails) {
  script("echo \"slipstream: The GPU's memory is full.\" >&2; exit 1");
  const Measured measured = measure();
  EXPECT_EQ(measured.failure, "The GPU's memory is full.");
  EXPECT_FALSE(measured.timed_out);
  EXPECT_GT(measured.took_s, 0);
}

TEST_F(TuneMeterTest, SaysWhatATrialWithoutTimeWouldHaveNeeded) {
  script("cp " + steps(5) + " $D/steps.jsonl; exec sleep 100");
  Measured measured = measure(TrialKind::kWarmUp, /*timeout_s=*/1);
  EXPECT_THAT(measured.failure, HasSubstr("It took more than 1.000 s."));
  EXPECT_TRUE(measured.timed_out);
  EXPECT_GE(measured.took_s, 1);
  EXPECT_NEAR(measured.again_s, 2 * measured.took_s, 1e-9) << "5 of 10 steps";
  script("exec sleep 100");
  measured = measure(TrialKind::kWarmUp, /*timeout_s=*/0.3);
  EXPECT_TRUE(measured.timed_out);
  EXPECT_EQ(measured.again_s, 0);
}

}  // namespace
}  // namespace slipstream
