#include "pipeline/input_bench.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <numeric>

#include "data/error.h"
#include "data/synth.h"
#include "pipeline/index_folder.h"
#include "pipeline/percentile.h"
#include "tests/pipeline/pipeline_fixture.h"

namespace slipstream {
namespace {
namespace fs = std::filesystem;

using testing::HasSubstr;
using testing::ThrowsMessage;

const auto kNoProgress = [](int64_t, int64_t, int64_t) {};

TrainSetup setup_of(Mode mode, int64_t batch_size, BadFiles bad_files = BadFiles::kStop) {
  TrainOptions options = test::small_options("unused");
  options.mode = mode;
  options.batch_size = batch_size;
  options.bad_files = bad_files;
  return resolve(options);
}

TEST(Percentile, IsTheNearestRank) {
  EXPECT_EQ(percentile({7}, 1), 7);
  EXPECT_EQ(percentile({7}, 99), 7);
  EXPECT_EQ(percentile({4, 1, 3, 2}, 50), 2);
  EXPECT_EQ(percentile({4, 1, 3, 2}, 51), 3);
  EXPECT_EQ(percentile({4, 1, 3, 2}, 75), 3);
  EXPECT_EQ(percentile({4, 1, 3, 2}, 76), 4);
  EXPECT_EQ(percentile({50, 15, 40, 20, 35}, 30), 20);
}

TEST(Percentile, OfAHundredIsThatOne) {
  std::vector<double> values(100);
  std::iota(values.rbegin(), values.rend(), 1);
  for (const int percent : {1, 7, 50, 95, 99, 100}) EXPECT_EQ(percentile(values, percent), percent);
}

class InputBenchTest : public testing::TestWithParam<Mode> {
 protected:
  ImageFolder folder_ = index_folder(test::small_folder() + "/train", 2, kNoProgress);
};

TEST_P(InputBenchTest, CountsTheMeasuredImagesAlone) {
  const InputRate rate = measure_input(setup_of(GetParam(), 8), folder_, 3);
  EXPECT_EQ(rate.mode, mode_name(GetParam()));
  EXPECT_EQ(rate.decode, "cpu");
  EXPECT_EQ(rate.images, 24);
  EXPECT_EQ(rate.bad_files, 0);
  EXPECT_FALSE(rate.jpeg_util.has_value());
}

TEST_P(InputBenchTest, MeasuresEveryStage) {
  const InputRate rate = measure_input(setup_of(GetParam(), 8), folder_, 6);
  EXPECT_GT(rate.wall_s, 0);
  EXPECT_GT(rate.cpu_s, 0);
  EXPECT_GT(rate.images_per_s(), 0);
  EXPECT_GT(rate.times.read_s, 0);
  EXPECT_GT(rate.times.decode_s, 0);
  EXPECT_GT(rate.times.resize_s, 0);
  EXPECT_GT(rate.latency_p50_s, 0);
  EXPECT_LE(rate.latency_p50_s, rate.latency_p95_s);
  EXPECT_LE(rate.latency_p95_s, rate.latency_p99_s);
  EXPECT_LE(rate.latency_p99_s, rate.wall_s);
}

// 48 images: 6 batches of 8 in a pass, one batch of 36 that leaves 12 out, a part of a batch of 100.
TEST_P(InputBenchTest, GoesThroughASmallFolderAgain) {
  EXPECT_EQ(measure_input(setup_of(GetParam(), 8), folder_, 20).images, 160);
  EXPECT_EQ(measure_input(setup_of(GetParam(), 36), folder_, 3).images, 108);
  EXPECT_EQ(measure_input(setup_of(GetParam(), 100), folder_, 2).images, 200);
}

TEST_P(InputBenchTest, TreatsBadFilesAsTold) {
  const test::TemporaryFolder temporary;
  const std::string root = (temporary.path() / "images").string();
  write_synth({.folder = root, .classes = 2, .train_per_class = 8, .val_per_class = 1, .max_size = 80},
              [](int64_t, int64_t) {});
  const ImageFolder folder = index_folder(root + "/train", 1, kNoProgress);
  const std::string bad = folder.path_of(5);
  fs::resize_file(bad, 60);

  EXPECT_THAT([&] { measure_input(setup_of(GetParam(), 16), folder, 2); },
              ThrowsMessage<Error>(HasSubstr(bad)));
  const InputRate rate = measure_input(setup_of(GetParam(), 16, BadFiles::kSkip), folder, 3);
  EXPECT_EQ(rate.images, 45);
  EXPECT_EQ(rate.bad_files, 3);
}

INSTANTIATE_TEST_SUITE_P(Modes, InputBenchTest,
                         testing::Values(Mode::kSerial, Mode::kPinned, Mode::kOverlapped),
                         [](const auto& mode) { return mode_name(mode.param); });

}  // namespace
}  // namespace slipstream
