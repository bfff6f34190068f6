#include "tests/pipeline/pipeline_fixture.h"

#include <ATen/ops/equal.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "data/synth.h"
#include "models/weights.h"
#include "pipeline/trainer.h"

namespace slipstream::test {

const std::string& small_folder() {
  static const TemporaryFolder folder;
  static const std::string path = [] {
    const std::string root = (folder.path() / "synth").string();
    write_synth({.folder = root, .classes = 4, .train_per_class = 12, .val_per_class = 5, .max_size = 96},
                [](int64_t, int64_t) {});
    return root;
  }();
  return path;
}

TrainOptions small_options(const std::string& out) {
  TrainOptions options;
  options.data = small_folder();
  options.out = out;
  options.arch = "resnet18";
  options.image_size = 32;
  options.batch_size = 8;
  options.epochs = 2;
  options.lr = 0.02;
  options.workers = 3;
  options.prefetch = 2;
  options.log_interval = 4;
  options.device = "cpu";
  options.deterministic = true;
  return options;
}

RecordingObserver train_recording(const TrainOptions& options) {
  std::filesystem::create_directories(options.out);
  RecordingObserver observer;
  train(options, observer);
  return observer;
}

std::vector<BatchCopy> take_pass(BatchSource& source) {
  std::vector<BatchCopy> copies;
  while (const auto batch = source.next()) {
    copies.push_back({batch->images.to(at::kCPU, at::kFloat, false, /*copy=*/true),
                      batch->labels.to(at::kCPU, at::kLong, false, /*copy=*/true)});
    source.release(*batch);
  }
  return copies;
}

void expect_equal_batches(const std::vector<BatchCopy>& found, const std::vector<BatchCopy>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  ASSERT_GE(found.size(), 2U);
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_TRUE(at::equal(found[i].images, expected[i].images)) << "batch " << i;
    EXPECT_TRUE(at::equal(found[i].labels, expected[i].labels)) << "batch " << i;
  }
  EXPECT_FALSE(at::equal(found[0].images, found[1].images));
}

void expect_equal_losses(const std::vector<StepRecord>& found, const std::vector<StepRecord>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  ASSERT_GE(found.size(), 2U);
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].epoch, expected[i].epoch);
    EXPECT_EQ(found[i].step, expected[i].step);
    EXPECT_EQ(found[i].loss, expected[i].loss) << "step " << i;
    EXPECT_EQ(found[i].lr, expected[i].lr);
  }
  EXPECT_NE(found[0].loss, found[1].loss);
}

void expect_equal_weights(const std::string& found, const std::string& expected) {
  const StateDict a = load_weights(found);
  const StateDict b = load_weights(expected);
  ASSERT_EQ(a.size(), 122U);
  ASSERT_EQ(b.size(), 122U);
  for (size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(at::equal(a[i].second, b[i].second)) << a[i].first;
}

}  // namespace slipstream::test
