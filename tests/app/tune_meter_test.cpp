// A trial and the process behind it; a shell script stands for `slipstream train`.
#include "app/tune_meter.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>

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
    options_ = {.executable = path("train.sh"), .scratch = path("scratch"), .trial_s = 0.2};
  }

  /// $D is the run's folder. The configuration is kept as seen.json.
  void script(const std::string& body) const {
    test::write_text(options_.executable,
                     fmt::format("#!/bin/sh\nD=$(dirname $3)\ncp $3 {}\n{}\n", path("seen.json"), body));
    fs::permissions(options_.executable, fs::perms::owner_all);
  }
  /// A file of `count` steps of 10 images: the first five of 2 s, the others of 0.4 s after a wait of 0.1 s.
  std::string steps(int count) const {
    std::string lines;
    double now = 0;
    for (int i = 1; i <= count; ++i) {
      const double wait_s = i <= 5 ? 0 : 0.1, compute_s = i <= 5 ? 2 : 0.4;
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
  Measured measure(TrialKind kind = TrialKind::kCandidate, double timeout_s = 60) {
    const StopSignal stop_signal;
    if (!meter_) meter_.emplace(training_, options_, console_of_stdout());
    return meter_->measure(kind, kSettings, timeout_s, nullptr);
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
  EXPECT_EQ(config.at("alone_steps"), 0);
  measure(TrialKind::kCeiling);
  EXPECT_EQ(seen().at("synthetic"), true);
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
