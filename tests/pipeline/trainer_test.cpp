#include "pipeline/trainer.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>

#include "data/error.h"
#include "models/weights.h"
#include "pipeline/lr_schedule.h"
#include "pipeline/profile_window.h"
#include "tests/pipeline/pipeline_fixture.h"

namespace slipstream {
namespace {
namespace fs = std::filesystem;

using test::expect_equal_losses;
using test::expect_equal_weights;
using test::RecordingObserver;
using test::small_options;
using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

class TrainerTest : public testing::Test {
 protected:
  TrainerTest() { fs::create_directories(out()); }
  std::string out(const std::string& name = "out") const { return (folder_.path() / name).string(); }

  static RecordingObserver run(const TrainOptions& options) { return test::train_recording(options); }

  test::TemporaryFolder folder_;
};

TEST_F(TrainerTest, ReportsEveryStepAndEpoch) {
  const RecordingObserver seen = run(small_options(out()));
  ASSERT_EQ(seen.steps.size(), 12U);  // 48 images in batches of 8, twice
  for (size_t i = 0; i < 12; ++i) {
    EXPECT_EQ(seen.steps[i].epoch, i < 6 ? 1 : 2);
    EXPECT_EQ(seen.steps[i].step, static_cast<int64_t>(i % 6) + 1);
    EXPECT_EQ(seen.steps[i].images, 8);
    EXPECT_GT(seen.steps[i].loss, 0);
    EXPECT_GT(seen.steps[i].times.compute_s, 0);
    EXPECT_EQ(seen.steps[i].loss_scale, 1);
  }
  ASSERT_EQ(seen.epochs.size(), 2U);
  for (const EpochReport& report : seen.epochs) {
    EXPECT_EQ(report.mode, "overlapped");
    EXPECT_EQ(report.decode, "cpu");
    EXPECT_EQ(report.images, 48);
    EXPECT_NEAR(report.images_per_s * report.wall_s, 48, 1e-6);
    EXPECT_LE(*report.compute_s + *report.data_wait_s, report.wall_s * 1.001);
    EXPECT_GE(*report.compute_s + *report.data_wait_s, report.wall_s * 0.9);
    EXPECT_GE(*report.hidden_share, 0);
    EXPECT_LE(*report.hidden_share, 1);
    EXPECT_FALSE(report.gpu.kernels);
    EXPECT_GE(*report.val_top5, *report.val_top1);
    EXPECT_EQ(*report.val_top5, 1);  // four classes: the label is among all of them
    EXPECT_THAT(report.bottleneck, testing::MatchesRegex(".+: .+; .+\\."));
  }
  double sum = 0;
  for (size_t i = 0; i < 6; ++i) sum += seen.steps[i].loss;
  EXPECT_NEAR(*seen.epochs[0].train_loss, sum / 6, 1e-6);
}

TEST_F(TrainerTest, CannotLearnSyntheticLabels) {
  TrainOptions options = small_options(out("run"));
  options.data.clear();
  options.synthetic = true;
  options.epochs = 1;
  options.limit_batches = 80;
  options.batch_size = 2;
  const RecordingObserver seen = run(options);
  ASSERT_EQ(seen.steps.size(), 80U);
  const auto mean_loss = [&](size_t from) {
    double sum = 0;
    for (size_t i = from; i < from + 20; ++i) sum += seen.steps[i].loss;
    return sum / 20;
  };
  EXPECT_GT(mean_loss(60), 4) << "of a thousand classes; a batch whose labels stay is learnt to 0";
}

TEST_F(TrainerTest, TimesTheStepAloneWithoutATrace) {
  TrainOptions options = small_options(out("plain"));
  const RecordingObserver plain = run(options);
  EXPECT_FALSE(plain.epochs.front().alone_share) << "not measured on the CPU unless asked for";
  options.out = out("timed");
  options.alone_seconds = 0.01;
  const RecordingObserver timed = run(options);
  expect_equal_losses(timed.steps, plain.steps);
  ASSERT_EQ(timed.epochs.size(), 2U);
  for (const EpochReport& report : timed.epochs) {
    EXPECT_GT(*report.alone_images_per_s, 0);
    EXPECT_DOUBLE_EQ(*report.alone_share, report.images_per_s / *report.alone_images_per_s);
  }
}

TEST_F(TrainerTest, GivesTheSameLossesInEveryModeAndWhenRepeated) {
  TrainOptions options = small_options(out("serial"));
  options.mode = Mode::kSerial;
  const RecordingObserver serial = run(options);
  for (const Mode mode : {Mode::kPinned, Mode::kOverlapped, Mode::kOverlapped}) {
    options.mode = mode;
    options.out = out("other");
    expect_equal_losses(run(options).steps, serial.steps);
    expect_equal_weights(out("other") + "/model.pt", out("serial") + "/model.pt");
  }
}

TEST_F(TrainerTest, ResumesAfterAnEpochBitForBit) {
  TrainOptions options = small_options(out("whole"));
  const RecordingObserver whole = run(options);
  options.out = out("parts");
  options.epochs = 1;
  options.lr_schedule = LrSchedule::kConstant;  // so that one epoch of two has the same learning rates
  TrainOptions constant = options;
  constant.epochs = 2;
  constant.out = out("constant");
  const RecordingObserver expected = run(constant);
  run(options);
  options.epochs = 2;
  options.resume = "auto";
  const RecordingObserver rest = run(options);
  EXPECT_EQ(rest.start, (std::pair<int64_t, int64_t>{2, 0}));
  expect_equal_losses(rest.steps, {expected.steps.begin() + 6, expected.steps.end()});
  expect_equal_weights(out("parts") + "/model.pt", out("constant") + "/model.pt");
}

// Raises SIGTERM in the middle of an epoch.
class StoppingObserver : public RecordingObserver {
 public:
  void on_progress(const Progress& progress) override {
    RecordingObserver::on_progress(progress);
    if (progress_calls == 3) std::raise(SIGTERM);
  }
};

TEST_F(TrainerTest, StopsOnASignalWithACheckpointAndResumesBitForBit) {
  const RecordingObserver expected = run(small_options(out("whole")));
  TrainOptions options = small_options(out("parts"));
  fs::create_directories(options.out);
  StoppingObserver stopped;
  EXPECT_EQ(train(options, stopped).stopped_by_signal, SIGTERM);
  EXPECT_EQ(stopped.steps.size(), 3U);
  EXPECT_TRUE(stopped.epochs.empty());
  options.resume = "auto";
  const RecordingObserver rest = run(options);
  EXPECT_EQ(rest.start, (std::pair<int64_t, int64_t>{1, 3}));
  expect_equal_losses(rest.steps, {expected.steps.begin() + 3, expected.steps.end()});
  ASSERT_EQ(rest.epochs.size(), 2U);
  EXPECT_EQ(rest.epochs[0].images, 48);  // the whole epoch's, not this process's alone
  EXPECT_EQ(*rest.epochs[0].train_loss, *expected.epochs[0].train_loss);
  expect_equal_weights(out("parts") + "/model.pt", out("whole") + "/model.pt");
}

// The signal comes in a group of batches, which is finished.
TEST_F(TrainerTest, StopsBetweenUpdatesAndResumesBitForBit) {
  TrainOptions options = small_options(out("whole"));
  options.grad_accum_steps = 2;
  const RecordingObserver expected = run(options);
  for (size_t i = 0; i < expected.steps.size(); i += 2) {
    EXPECT_EQ(expected.steps[i].lr, expected.steps[i + 1].lr);
    if (i > 0) {
      EXPECT_NE(expected.steps[i].lr, expected.steps[i - 1].lr);
    }
  }
  options.out = out("parts");
  fs::create_directories(options.out);
  StoppingObserver stopped;
  EXPECT_EQ(train(options, stopped).stopped_by_signal, SIGTERM);
  EXPECT_EQ(stopped.steps.size(), 4U);
  options.resume = "auto";
  options.grad_accum_steps = 3;
  RecordingObserver observer;
  EXPECT_THAT([&] { train(options, observer); },
              ThrowsMessage<Error>(AllOf(HasSubstr("checkpoint.pt"), HasSubstr("--grad-accum-steps"))));
  options.grad_accum_steps = 2;
  const RecordingObserver rest = run(options);
  EXPECT_EQ(rest.start, (std::pair<int64_t, int64_t>{1, 4}));
  expect_equal_losses(rest.steps, {expected.steps.begin() + 4, expected.steps.end()});
  expect_equal_weights(out("parts") + "/model.pt", out("whole") + "/model.pt");
}

TEST_F(TrainerTest, LeavesOutTheLastGroupOfBatchesThatIsntFull) {
  TrainOptions options = small_options(out());
  options.grad_accum_steps = 4;
  const RecordingObserver seen = run(options);
  EXPECT_EQ(seen.steps.size(), 8U);  // of 6 batches in each of two epochs
  options.grad_accum_steps = 7;
  RecordingObserver observer;
  EXPECT_THAT([&] { train(options, observer); },
              ThrowsMessage<UsageError>(HasSubstr("--grad-accum-steps 7 is more than an epoch's 6 batches")));
}

TEST_F(TrainerTest, RefusesACheckpointOfAnotherRun) {
  TrainOptions options = small_options(out());
  options.epochs = 1;
  run(options);
  options.resume = "auto";
  options.arch = "resnet34";
  RecordingObserver observer;
  EXPECT_THAT([&] { train(options, observer); },
              ThrowsMessage<Error>(AllOf(HasSubstr("checkpoint.pt"), HasSubstr("--arch resnet18"))));
  options.arch = "resnet18";
  options.resume = out() + "/model.pt";
  EXPECT_THAT([&] { train(options, observer); },
              ThrowsMessage<Error>(AllOf(HasSubstr("model.pt"), HasSubstr("--weights"))));
}

TEST_F(TrainerTest, StartsFromWeights) {
  TrainOptions options = small_options(out("first"));
  options.epochs = 1;
  run(options);
  options.weights = out("first") + "/model.pt";
  options.out = out("second");
  options.seed = 9;  // other random weights, were they used
  options.lr = 1e-9;
  const RecordingObserver seen = run(options);
  const StateDict before = load_weights(options.weights);
  const StateDict after = load_weights(out("second") + "/model.pt");
  ASSERT_EQ(before.size(), after.size());
  EXPECT_LE((before[0].second - after[0].second).abs().max().item<float>(), 1e-6F);
}

TEST_F(TrainerTest, TrainsInBfloat16AndChannelsLast) {
  TrainOptions options = small_options(out("plain"));
  const RecordingObserver plain = run(options);
  options.out = out("fast");
  options.amp = Amp::kBf16;
  options.channels_last = true;
  const RecordingObserver fast = run(options);
  ASSERT_EQ(fast.steps.size(), plain.steps.size());
  EXPECT_NEAR(fast.steps[0].loss, plain.steps[0].loss, 0.05);
  EXPECT_NE(fast.steps[0].loss, plain.steps[0].loss);
}

TEST_F(TrainerTest, ScalesTheLossInFloat16) {
  TrainOptions options = small_options(out());
  options.amp = Amp::kFp16;
  const RecordingObserver seen = run(options);
  ASSERT_EQ(seen.steps.size(), 12U);
  EXPECT_EQ(seen.steps[0].loss_scale, 65536);
  for (const StepRecord& step : seen.steps) EXPECT_TRUE(std::isfinite(step.loss)) << step.step;
}

TEST_F(TrainerTest, WarmsUpForTheBenchmarkWithoutATrace) {
  TrainOptions options = small_options(out("plain"));
  options.deterministic = false;
  const RecordingObserver plain = run(options);
  options.cudnn_benchmark = true;
  options.out = out("benchmark");
  expect_equal_losses(run(options).steps, plain.steps);
  expect_equal_weights(out("benchmark") + "/model.pt", out("plain") + "/model.pt");
}

TEST_F(TrainerTest, TrainsOnSyntheticBatches) {
  TrainOptions options = small_options(out());
  options.data = "";
  options.synthetic = true;
  options.limit_batches = 3;
  const RecordingObserver seen = run(options);
  EXPECT_EQ(seen.steps.size(), 6U);
  ASSERT_EQ(seen.epochs.size(), 2U);
  EXPECT_EQ(seen.epochs[0].decode, "none");
  EXPECT_FALSE(seen.epochs[0].read_s);
  EXPECT_FALSE(seen.epochs[0].val_top1);
}

TEST_F(TrainerTest, IsTheSameWithoutReports) {
  TrainOptions options = small_options(out("with"));
  run(options);
  options.reports = false;
  options.out = out("without");
  const RecordingObserver quiet = run(options);
  EXPECT_TRUE(quiet.steps.empty());
  EXPECT_FALSE(quiet.epochs[0].compute_s);
  expect_equal_weights(out("without") + "/model.pt", out("with") + "/model.pt");
}

TEST_F(TrainerTest, SkipsBadFilesOnRequest) {
  const fs::path copy = folder_.path() / "images";
  fs::copy(test::small_folder(), copy, fs::copy_options::recursive);
  fs::path bad;
  for (const auto& entry : fs::recursive_directory_iterator(copy / "train")) {
    if (entry.is_regular_file()) bad = entry.path();
  }
  test::write_text(bad, "no image");
  TrainOptions options = small_options(out());
  options.data = copy.string();
  options.epochs = 1;
  RecordingObserver observer;
  EXPECT_THAT([&] { train(options, observer); }, ThrowsMessage<Error>(HasSubstr(bad.string())));
  options.bad_files = BadFiles::kSkip;
  const RecordingObserver seen = run(options);
  ASSERT_EQ(seen.bad_files.size(), 1U);
  EXPECT_EQ(seen.bad_files[0].first, bad.string());
  EXPECT_EQ(seen.epochs[0].images, 47);
}

TEST(Resolve, RefusesWhatCannotRun) {
  TrainOptions options = small_options("unused");
  const auto refuses = [](const TrainOptions& wrong, const std::string& sentence) {
    EXPECT_THAT([&] { resolve(wrong); }, ThrowsMessage<UsageError>(HasSubstr(sentence)));
  };
  TrainOptions wrong = options;
  wrong.data = "/nowhere";
  refuses(wrong, "/nowhere/train: no such folder");
  wrong = options;
  wrong.data = "";
  refuses(wrong, "--data");
  wrong = options;
  wrong.val_dir = "/nowhere";
  refuses(wrong, "--val-dir /nowhere");
  wrong = options;
  wrong.val_resize = 16;
  refuses(wrong, "--val-resize 16 is less than --image-size 32");
  wrong = options;
  wrong.cudnn_benchmark = true;
  refuses(wrong, "exclude each other");
  wrong = options;
  wrong.workers = 0;
  refuses(wrong, "--mode serial");
  wrong = options;
  wrong.device = "tpu";
  refuses(wrong, "auto, cpu, cuda or cuda:N");
  wrong = options;
  wrong.decode = Decoder::kCuda;
  EXPECT_THROW(resolve(wrong), UsageError);  // the CPU trains
}

TEST(LearningRate, WarmsUpThenFollowsItsSchedule) {
  TrainOptions options;
  options.lr = 0.4;
  options.epochs = 10;
  options.warmup_epochs = 2;
  EXPECT_DOUBLE_EQ(learning_rate(options, 0), 0);
  EXPECT_DOUBLE_EQ(learning_rate(options, 1), 0.2);
  EXPECT_DOUBLE_EQ(learning_rate(options, 2), 0.4);
  EXPECT_NEAR(learning_rate(options, 6), 0.2, 1e-12);
  EXPECT_NEAR(learning_rate(options, 10), 0, 1e-12);
  options.lr_schedule = LrSchedule::kStep;
  EXPECT_DOUBLE_EQ(learning_rate(options, 29.9), 0.4);
  EXPECT_NEAR(learning_rate(options, 30), 0.04, 1e-12);
  EXPECT_NEAR(learning_rate(options, 60), 0.004, 1e-12);
  options.lr_schedule = LrSchedule::kConstant;
  EXPECT_DOUBLE_EQ(learning_rate(options, 80), 0.4);
}

TEST_F(TrainerTest, SaysThatTheCpuHasNoGraphAndTrainsWithoutIt) {
  TrainOptions options = small_options(out("plain"));
  const RecordingObserver plain = run(options);
  EXPECT_THAT(plain.messages, testing::IsEmpty());
  options.out = out("graph");
  options.cuda_graph = true;
  const RecordingObserver asked = run(options);
  EXPECT_THAT(asked.messages,
              testing::ElementsAre(HasSubstr("--cuda-graph: there is no graph to record on the CPU")));
  expect_equal_losses(asked.steps, plain.steps);
}

TEST(ProfiledSteps, AreTheTwentiethToTheThirtiethOrTheLastOfAShortEpoch) {
  const auto expect_span = [](int64_t steps, int64_t first, int64_t last) {
    const StepSpan span = profiled_steps(steps);
    EXPECT_EQ(span.first, first) << steps;
    EXPECT_EQ(span.last, last) << steps;
  };
  expect_span(5004, 20, 30);
  expect_span(30, 20, 30);
  expect_span(29, 19, 29);
  expect_span(12, 2, 12);
  expect_span(11, 1, 11);
  expect_span(1, 1, 1);
}

}  // namespace
}  // namespace slipstream
