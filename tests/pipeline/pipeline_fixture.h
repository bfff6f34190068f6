#pragma once

#include <string>
#include <vector>

#include "pipeline/batch_loader.h"
#include "pipeline/run_observer.h"
#include "pipeline/train_setup.h"
#include "tests/support/test_support.h"

namespace slipstream::test {

/// A generated folder of 4 classes, 12 training and 5 validation images each, made once per test program.
const std::string& small_folder();

/// Options of a run on it that takes a second on a CPU.
TrainOptions small_options(const std::string& out);

/// Keeps all that a run tells.
class RecordingObserver : public RunObserver {
 public:
  void on_message(const std::string& sentence) override { messages.push_back(sentence); }
  void on_indexed(int64_t, int64_t, int64_t) override {}
  void on_start(int64_t epoch, int64_t step) override { start = {epoch, step}; }
  void on_progress(const Progress&) override { ++progress_calls; }
  void on_step(const StepRecord& step) override { steps.push_back(step); }
  void on_epoch(const EpochReport& report) override { epochs.push_back(report); }
  void on_bad_file(const std::string& path, const std::string& why) override {
    bad_files.emplace_back(path, why);
  }

  std::vector<std::string> messages;
  std::pair<int64_t, int64_t> start;
  int progress_calls = 0;
  std::vector<StepRecord> steps;
  std::vector<EpochReport> epochs;
  std::vector<std::pair<std::string, std::string>> bad_files;
};

/// Makes the run's folder, trains, and returns what was told.
RecordingObserver train_recording(const TrainOptions& options);

/// What a batch held, on the host.
struct BatchCopy {
  at::Tensor images, labels;
};

/// Takes batches to the end of the source's current pass.
std::vector<BatchCopy> take_pass(BatchSource& source);

/// Asserts that they are equal bit for bit, and not all the same.
void expect_equal_batches(const std::vector<BatchCopy>& found, const std::vector<BatchCopy>& expected);

/// Asserts that the runs' steps and their losses are equal bit for bit, and not all the same.
void expect_equal_losses(const std::vector<StepRecord>& found, const std::vector<StepRecord>& expected);

/// Asserts that two files of a ResNet-18's weights are equal bit for bit.
void expect_equal_weights(const std::string& found, const std::string& expected);

}  // namespace slipstream::test
