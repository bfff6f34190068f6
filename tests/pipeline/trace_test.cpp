// What a run tells of its time: the epoch's parts, and the trace of its first steps.
#include "pipeline/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <set>
#include <thread>

#include "data/error.h"
#include "pipeline/index_folder.h"
#include "pipeline/input_bench.h"
#include "pipeline/trainer.h"
#include "tests/pipeline/pipeline_fixture.h"

namespace slipstream {
namespace {
namespace fs = std::filesystem;

using test::RecordingObserver;
using testing::HasSubstr;
using testing::ThrowsMessage;

/// Keeps the trace, too, with the files' names.
class TracingObserver : public RecordingObserver {
 public:
  void on_trace(const Trace& trace) override {
    ++traces;
    spans = trace.spans();
    tracks = trace.tracks();
    left_out = trace.left_out();
    for (const TraceSpan& span : spans) {
      if (span.file != nullptr) files[span.batch].insert(*span.file);
    }
  }
  int64_t count(TraceWork work) const { return std::ranges::count(spans, work, &TraceSpan::work); }
  std::string track_of(TraceWork work) const {
    return tracks.at(static_cast<size_t>(std::ranges::find(spans, work, &TraceSpan::work)->track));
  }

  int traces = 0;
  std::vector<TraceSpan> spans;
  std::vector<std::string> tracks;
  int64_t left_out = -1;
  std::map<int64_t, std::set<std::string>> files;
};

class TraceTest : public testing::TestWithParam<Mode> {
 protected:
  TrainOptions options(int64_t steps) const {
    TrainOptions wanted = test::small_options((folder_.path() / "out").string());
    fs::create_directories(wanted.out);
    wanted.mode = GetParam();
    wanted.trace = "auto";
    wanted.trace_steps = steps;
    return wanted;
  }
  test::TemporaryFolder folder_;
};

TEST_P(TraceTest, HoldsEverySampleAndStepOfTheFirstBatches) {
  TracingObserver seen;
  train(options(3), seen);
  ASSERT_EQ(seen.traces, 1);  // of two epochs
  EXPECT_EQ(seen.count(TraceWork::kRead), 3 * 8);
  EXPECT_EQ(seen.count(TraceWork::kDecode), 3 * 8);
  EXPECT_EQ(seen.count(TraceWork::kResize), 3 * 8);
  for (const TraceWork once : {TraceWork::kStage, TraceWork::kFinish, TraceWork::kWaitForInput,
                               TraceWork::kQueueStep, TraceWork::kWaitForDevice, TraceWork::kStep}) {
    EXPECT_EQ(seen.count(once), 3);
  }
  EXPECT_EQ(seen.spans.size(), 3 * 8 * 3 + 6 * 3U);
  EXPECT_EQ(seen.left_out, 0);
  ASSERT_EQ(seen.files.size(), 3U);
  for (const auto& [batch, files] : seen.files) EXPECT_EQ(files.size(), 8U) << batch;

  // A batch's own work is in the order of its way.
  std::map<std::pair<int64_t, TraceWork>, double> begin, end;
  for (const TraceSpan& span : seen.spans) {
    EXPECT_LE(span.begin_s, span.end_s);
    begin.try_emplace({span.batch, span.work}, span.begin_s);
    end[{span.batch, span.work}] = std::max(end[{span.batch, span.work}], span.end_s);
  }
  for (int64_t batch = 0; batch < 3; ++batch) {
    EXPECT_LE((end[{batch, TraceWork::kResize}]), (begin[{batch, TraceWork::kStage}]));
    EXPECT_LE((end[{batch, TraceWork::kStage}]), (begin[{batch, TraceWork::kStep}]));
    EXPECT_LE((end[{batch, TraceWork::kFinish}]), (begin[{batch, TraceWork::kStep}]));
    EXPECT_LE((begin[{batch, TraceWork::kQueueStep}]), (begin[{batch, TraceWork::kStep}]));
    // The step's own time is the trace's.
    const double step_s = end[{batch, TraceWork::kStep}] - begin[{batch, TraceWork::kStep}];
    EXPECT_NEAR(step_s, seen.steps[static_cast<size_t>(batch)].times.compute_s, 1e-6);
  }
}

TEST_P(TraceTest, HasATrackForEachThread) {
  TracingObserver seen;
  train(options(2), seen);
  if (GetParam() == Mode::kSerial) {
    EXPECT_THAT(seen.tracks, testing::ElementsAre("training thread", "compute stream"));
    for (const TraceSpan& span : seen.spans) EXPECT_EQ(span.track, span.work == TraceWork::kStep ? 1 : 0);
    return;
  }
  EXPECT_THAT(seen.tracks, testing::ElementsAre("training thread", "worker 1", "worker 2", "worker 3",
                                                "stager", "compute stream"));
  EXPECT_THAT(seen.track_of(TraceWork::kDecode), HasSubstr("worker"));
  EXPECT_EQ(seen.track_of(TraceWork::kStage), "stager");
  EXPECT_EQ(seen.track_of(TraceWork::kWaitForInput), "training thread");
  EXPECT_EQ(seen.track_of(TraceWork::kStep), "compute stream");
}

TEST_P(TraceTest, EndsWithTheFirstEpochAndChangesNoLoss) {
  TracingObserver seen;
  train(options(50), seen);
  EXPECT_EQ(seen.traces, 1);
  EXPECT_EQ(seen.count(TraceWork::kStep), 6);
  EXPECT_EQ(seen.count(TraceWork::kRead), 48);  // none of the validation's, none of the second epoch's
  TrainOptions plain = options(50);
  plain.trace.clear();
  TracingObserver untraced;
  train(plain, untraced);
  EXPECT_EQ(untraced.traces, 0);
  test::expect_equal_losses(seen.steps, untraced.steps);
}

TEST_P(TraceTest, TellsOfTheInputAlone) {
  const ImageFolder folder =
      index_folder(test::small_folder() + "/train", 2, [](int64_t, int64_t, int64_t) {});
  const InputRate rate = measure_input(resolve(options(5)), folder, 4);
  ASSERT_TRUE(rate.trace);
  std::map<TraceWork, int> count;
  for (const TraceSpan& span : rate.trace->spans()) ++count[span.work];
  EXPECT_EQ(count[TraceWork::kRead], 5 * 8);
  EXPECT_EQ(count[TraceWork::kWaitForInput], 5);
  EXPECT_EQ(count[TraceWork::kFinish], 5);
  EXPECT_EQ(count[TraceWork::kStep], 0);
}

TEST_P(TraceTest, IsOfSyntheticBatchesToo) {
  TrainOptions synthetic = options(2);
  synthetic.data.clear();
  synthetic.synthetic = true;
  synthetic.limit_batches = 3;
  TracingObserver seen;
  train(synthetic, seen);
  EXPECT_EQ(seen.count(TraceWork::kStep), 2);
  EXPECT_EQ(seen.count(TraceWork::kRead), 0);
}

INSTANTIATE_TEST_SUITE_P(Modes, TraceTest, testing::Values(Mode::kSerial, Mode::kPinned, Mode::kOverlapped),
                         [](const auto& mode) { return mode_name(mode.param); });

TEST(Trace, NeedsTheTimesThatReportsTake) {
  TrainOptions options = test::small_options("unused");
  options.trace = "auto";
  options.reports = false;
  EXPECT_THAT([&] { resolve(options); }, ThrowsMessage<UsageError>(HasSubstr("--trace")));
}

/// Lets the host do nothing of use between two steps.
class SlowObserver : public RecordingObserver {
 public:
  static constexpr int kSleepMs = 40;
  void on_progress(const Progress& progress) override {
    const bool last = progress.step == progress.steps;
    if (std::string_view(progress.phase) != "train" || last) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(kSleepMs));
  }
};

class AccountTest : public testing::TestWithParam<Mode> {};

TEST_P(AccountTest, ComputeExposedInputAndTheRestAreTheEpoch) {
  const test::TemporaryFolder folder;
  TrainOptions options = test::small_options((folder.path() / "out").string());
  fs::create_directories(options.out);
  options.mode = GetParam();
  options.workers = 1;
  SlowObserver seen;
  train(options, seen);
  ASSERT_EQ(seen.epochs.size(), 2U);
  ASSERT_EQ(seen.steps.size(), 12U);
  for (size_t epoch = 0; epoch < 2; ++epoch) {
    const EpochReport& report = seen.epochs[epoch];
    EXPECT_NEAR(*report.compute_s + *report.data_wait_s + *report.other_s, report.wall_s, 1e-9);
    // The same from the steps, each of which tells where it lies: compute, the wait for input before it and
    // the time between that is neither. Only the last is not itself a figure of theirs.
    double compute_s = 0, wait_s = 0, between_s = 0, input_s = 0;
    for (size_t i = 6 * epoch; i < 6 * epoch + 6; ++i) {
      const StepRecord& step = seen.steps[i];
      compute_s += step.times.compute_s;
      wait_s += step.times.data_wait_s;
      input_s += step.times.read_s + step.times.decode_s + step.times.resize_s;
      if (i == 6 * epoch) continue;
      const StepRecord& before = seen.steps[i - 1];
      const double idle_s = step.begin_s - before.begin_s - before.times.compute_s;
      EXPECT_GE(idle_s, SlowObserver::kSleepMs * 1e-3);
      EXPECT_LE(step.times.data_wait_s, idle_s + 1e-9);
      between_s += idle_s - step.times.data_wait_s;
    }
    EXPECT_NEAR(compute_s + wait_s + between_s, report.wall_s, 0.02 * report.wall_s);
    if (GetParam() != Mode::kSerial) continue;
    // Serially, what the host does between steps hides no input: neither is counted as the other.
    EXPECT_GE(*report.other_s, 5 * SlowObserver::kSleepMs * 1e-3);
    EXPECT_GE(*report.data_wait_s, input_s);
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, AccountTest, testing::Values(Mode::kSerial, Mode::kPinned, Mode::kOverlapped),
                         [](const auto& mode) { return mode_name(mode.param); });

}  // namespace
}  // namespace slipstream
