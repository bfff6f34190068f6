#include "pipeline/batch_loader.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/square.h>
#include <ATen/ops/sub.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include "data/epoch_order.h"
#include "data/error.h"
#include "data/synth.h"
#include "pipeline/index_folder.h"
#include "tests/pipeline/pipeline_fixture.h"

namespace slipstream {
namespace {
namespace fs = std::filesystem;

using test::BatchCopy;
using test::take_pass;
using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

const auto kNoProgress = [](int64_t, int64_t, int64_t) {};

LoaderOptions loader_options(Mode mode) {
  return {.schedule = schedule_of(mode),
          .workers = 3,
          .prefetch = 2,
          .batch_size = 8,
          .image_size = 32,
          .val_resize = 37,
          .seed = 5,
          .compute = c10::Stream(c10::Stream::DEFAULT, c10::kCPU)};
}

Pass training_pass(const ImageFolder& folder, int64_t epoch) {
  Pass pass{&folder, true, epoch, epoch_order(folder.samples.size(), 5, epoch)};
  pass.end_batch = static_cast<int64_t>(folder.samples.size()) / 8;
  return pass;
}

class BatchLoaderTest : public testing::Test {
 protected:
  ImageFolder training_ = index_folder(test::small_folder() + "/train", 2, kNoProgress);
  ImageFolder validation_ = index_folder(test::small_folder() + "/val", 2, kNoProgress);
};

TEST_F(BatchLoaderTest, GivesTheSameBatchesInEveryMode) {
  BatchLoader serial(loader_options(Mode::kSerial));
  serial.enqueue(training_pass(training_, 1));
  const auto expected = take_pass(serial);
  ASSERT_EQ(expected.size(), 6U);
  for (const Mode mode : {Mode::kPinned, Mode::kOverlapped}) {
    for (const int workers : {1, 4}) {
      LoaderOptions options = loader_options(mode);
      options.workers = workers;
      BatchLoader loader(options);
      loader.enqueue(training_pass(training_, 1));
      test::expect_equal_batches(take_pass(loader), expected);
    }
  }
}

TEST_F(BatchLoaderTest, DecodesFastToNearlyTheSamePixels) {
  const test::TemporaryFolder temporary;
  const std::string root = (temporary.path() / "large").string();
  write_synth({.folder = root,
               .classes = 2,
               .train_per_class = 8,
               .val_per_class = 0,
               .min_size = 300,
               .max_size = 400},
              {});
  const ImageFolder folder = index_folder(root + "/train", 2, kNoProgress);
  std::vector<std::vector<BatchCopy>> by_way;
  for (const CpuDecode way : {CpuDecode::kExact, CpuDecode::kFast}) {
    LoaderOptions options = loader_options(Mode::kOverlapped);
    options.cpu_decode = way;
    BatchLoader loader(options);
    loader.enqueue(training_pass(folder, 1));
    by_way.push_back(take_pass(loader));
  }
  ASSERT_EQ(by_way[1].size(), 2U);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_TRUE(at::equal(by_way[0][i].labels, by_way[1][i].labels));
    const at::Tensor delta = at::sub(by_way[0][i].images, by_way[1][i].images);
    const double rms = std::sqrt(at::mean(at::square(delta)).item<double>());
    EXPECT_GT(rms, 0);
    EXPECT_LT(rms, 0.1);  // of a deviation of 1: some 6 of 255, in images full of noise
  }
}

TEST_F(BatchLoaderTest, DrawsAnewInEveryEpoch) {
  BatchLoader loader(loader_options(Mode::kOverlapped));
  loader.enqueue(training_pass(training_, 1));
  loader.enqueue(training_pass(training_, 2));
  const auto first = take_pass(loader);
  const auto second = take_pass(loader);
  ASSERT_EQ(first.size(), second.size());
  EXPECT_FALSE(at::equal(first[0].images, second[0].images));
}

TEST_F(BatchLoaderTest, EvaluatesEveryImageOnceAndInOrder) {
  for (const Mode mode : {Mode::kSerial, Mode::kOverlapped}) {
    BatchLoader loader(loader_options(mode));
    loader.enqueue(evaluation_pass(validation_, 8, 0));
    const auto batches = take_pass(loader);
    ASSERT_EQ(batches.size(), 3U);
    EXPECT_EQ(batches[2].images.size(0), 4);  // 20 images: two full batches and the rest
    std::vector<at::Tensor> labels;
    for (const BatchCopy& batch : batches) labels.push_back(batch.labels);
    const at::Tensor all = at::cat(labels);
    ASSERT_EQ(all.size(0), 20);
    for (int64_t i = 0; i < 20; ++i) EXPECT_EQ(all[i].item<int64_t>(), validation_.samples[i].label);
  }
}

TEST_F(BatchLoaderTest, GoesThroughPassesInTurnAndPreparesAhead) {
  BatchLoader loader(loader_options(Mode::kOverlapped));
  loader.enqueue(training_pass(training_, 1));
  loader.enqueue(evaluation_pass(validation_, 8, 0));
  loader.enqueue(training_pass(training_, 2));
  EXPECT_EQ(take_pass(loader).size(), 6U);
  EXPECT_EQ(take_pass(loader).size(), 3U);
  EXPECT_EQ(take_pass(loader).size(), 6U);
  EXPECT_FALSE(loader.next().has_value());
}

TEST_F(BatchLoaderTest, BeginsWithinAPass) {
  BatchLoader whole(loader_options(Mode::kOverlapped));
  whole.enqueue(training_pass(training_, 1));
  const auto expected = take_pass(whole);
  Pass rest = training_pass(training_, 1);
  rest.first_batch = 4;
  BatchLoader loader(loader_options(Mode::kOverlapped));
  loader.enqueue(std::move(rest));
  test::expect_equal_batches(take_pass(loader), {expected.begin() + 4, expected.end()});
}

TEST_F(BatchLoaderTest, GivesTheSameBatchesHoweverLongTheRing) {
  std::vector<BatchCopy> one;
  for (const int prefetch : {1, 2, 7}) {
    LoaderOptions options = loader_options(Mode::kOverlapped);
    options.prefetch = prefetch;
    BatchLoader loader(options);
    loader.enqueue(training_pass(training_, 1));
    auto batches = take_pass(loader);
    if (one.empty()) {
      one = std::move(batches);
    } else {
      test::expect_equal_batches(batches, one);
    }
  }
}

// Batches of 8 and 1 in turn: workers that wake while the slot is opened for the longer one must not take its
// samples for those that the shorter one lacked.
TEST_F(BatchLoaderTest, OpensTheOnlySlotForOneBatchAtATime) {
  const auto enqueue = [&](BatchLoader& loader) {
    Pass pass = training_pass(training_, 1);
    pass.order.resize(9);
    pass.end_batch = 2;
    loader.enqueue(std::move(pass));
  };
  BatchLoader serial(loader_options(Mode::kSerial));
  enqueue(serial);
  const std::vector<BatchCopy> expected = take_pass(serial);
  ASSERT_EQ(expected.back().labels.size(0), 1);

  LoaderOptions options = loader_options(Mode::kOverlapped);
  options.prefetch = 1;
  options.workers = 8;
  BatchLoader loader(options);
  constexpr int kPasses = 300;
  for (int i = 0; i < kPasses; ++i) enqueue(loader);
  for (int i = 0; i < kPasses; ++i) {
    test::expect_equal_batches(take_pass(loader), expected);
    if (HasFailure()) FAIL() << "pass " << i;
  }
}

// The ring holds two batches: a consumer that keeps one must not see it change.
TEST_F(BatchLoaderTest, LeavesABatchAloneUntilItIsReleased) {
  BatchLoader loader(loader_options(Mode::kOverlapped));
  loader.enqueue(training_pass(training_, 1));
  const auto first = loader.next();
  ASSERT_TRUE(first);
  const at::Tensor copy = first->images.clone();
  const auto second = loader.next();
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_TRUE(at::equal(first->images, copy));
  loader.release(*first);
  loader.release(*second);
  EXPECT_EQ(take_pass(loader).size(), 4U);
}

TEST_F(BatchLoaderTest, CanBeAbandonedAtAnyTime) {
  for (int taken = 0; taken < 4; ++taken) {
    BatchLoader loader(loader_options(Mode::kOverlapped));
    loader.enqueue(training_pass(training_, 1));
    for (int i = 0; i < taken; ++i) {
      const auto batch = loader.next();
      if (i != 2) loader.release(*batch);
    }
  }
}

TEST_F(BatchLoaderTest, AccountsForItsTime) {
  BatchLoader loader(loader_options(Mode::kOverlapped));
  loader.enqueue(training_pass(training_, 1));
  const auto batch = loader.next();
  ASSERT_TRUE(batch->times);
  const StageTimes times = batch->times->stage_times();
  EXPECT_GT(times.read_s, 0);
  EXPECT_GT(times.decode_s, 0);
  EXPECT_GT(times.resize_s, 0);
  loader.release(*batch);
}

class BadFilesTest : public testing::TestWithParam<Mode> {
 protected:
  BadFilesTest() {
    write_synth({.folder = root_, .classes = 2, .train_per_class = 8, .val_per_class = 1, .max_size = 80},
                [](int64_t, int64_t) {});
    folder_ = index_folder(root_ + "/train", 1, kNoProgress);
    for (const size_t bad : {3, 11}) fs::resize_file(path(bad), 60);
  }

  std::string path(size_t sample) const { return folder_.path_of(sample); }
  Pass pass() const { return evaluation_pass(folder_, 8, 0); }

  test::TemporaryFolder temporary_;
  std::string root_ = (temporary_.path() / "images").string();
  ImageFolder folder_;
};

TEST_P(BadFilesTest, StopTheRunWithTheFirstOnesName) {
  LoaderOptions options = loader_options(GetParam());
  options.batch_size = 16;
  BatchLoader loader(options);
  Pass all = pass();
  all.end_batch = 1;
  loader.enqueue(std::move(all));
  EXPECT_THAT([&] { loader.next(); },
              ThrowsMessage<Error>(AllOf(HasSubstr(path(3)), HasSubstr("--bad-files skip"))));
}

TEST_P(BadFilesTest, AreSkippedAndListedInOrder) {
  LoaderOptions options = loader_options(GetParam());
  options.batch_size = 16;
  options.bad_files = BadFiles::kSkip;
  BatchLoader loader(options);
  Pass all = pass();
  all.end_batch = 1;
  loader.enqueue(std::move(all));
  const auto batch = loader.next();
  ASSERT_TRUE(batch);
  ASSERT_EQ(batch->bad_files.size(), 2U);
  EXPECT_EQ(batch->bad_files[0].path, path(3));
  EXPECT_EQ(batch->bad_files[1].path, path(11));
  EXPECT_THAT(batch->bad_files[0].why, HasSubstr(path(3)));
  for (int64_t i = 0; i < 16; ++i) {
    const int64_t expected = i == 3 || i == 11 ? kIgnoredLabel : folder_.samples[i].label;
    EXPECT_EQ(batch->labels[i].item<int64_t>(), expected) << i;
  }
  loader.release(*batch);
}

TEST_P(BadFilesTest, MayVanishAfterIndexing) {
  fs::remove(path(3));
  LoaderOptions options = loader_options(GetParam());
  BatchLoader loader(options);
  loader.enqueue(pass());
  EXPECT_THAT([&] { loader.next(); }, ThrowsMessage<Error>(HasSubstr(path(3))));
}

INSTANTIATE_TEST_SUITE_P(Modes, BadFilesTest, testing::Values(Mode::kSerial, Mode::kOverlapped),
                         [](const auto& mode) { return mode_name(mode.param); });

}  // namespace
}  // namespace slipstream
