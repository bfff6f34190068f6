#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <sstream>

#include "app/compare_table.h"
#include "app/json_file.h"
#include "app/records.h"
#include "app/run_files_observer.h"
#include "app/run_report.h"
#include "data/error.h"
#include "tests/support/test_support.h"

namespace slipstream {
namespace {

namespace fs = std::filesystem;
using test::read_text;
using test::write_text;
using testing::ElementsAre;
using testing::HasSubstr;

EpochReport epoch_report(int64_t epoch) {
  EpochReport report;
  report.epoch = epoch;
  report.mode = "overlapped";
  report.decode = "cpu";
  report.images = 100;
  report.wall_s = 2.5;
  report.images_per_s = 40;
  report.read_s = 0.25;
  report.val_top1 = std::numeric_limits<double>::quiet_NaN();
  report.bottleneck = "Decoding takes 90%, \"most\" of it: try --workers 8.";
  return report;
}

StepRecord step_record(int64_t epoch, int64_t step) {
  StepRecord record;
  record.epoch = epoch;
  record.step = step;
  record.images = 50;
  record.loss = 0.1f;
  record.lr = 0.1;
  record.times.read_s = 0.125;
  return record;
}

class RunFilesTest : public testing::Test {
 protected:
  RunFilesObserver observer(bool steps = true) const { return {folder(), {{"seed", 1}}, steps}; }
  /// Two epochs of two steps each.
  void record_run() const {
    RunFilesObserver files = observer();
    files.on_start(1, 0);
    for (const int64_t epoch : {1, 2}) {
      for (const int64_t step : {1, 2}) files.on_step(step_record(epoch, step));
      files.on_epoch(epoch_report(epoch));
    }
    files.on_bad_file("a.jpg", "cut short");
  }
  std::string folder() const { return (folder_.path() / "runs" / "a").string(); }
  std::string text(const char* name) const { return read_text(fs::path(folder()) / name); }
  bool exists(const char* name) const { return fs::exists(fs::path(folder()) / name); }

  std::vector<int64_t> epochs() const {
    std::vector<int64_t> numbers;
    for (const Json& epoch : read_run_report(folder() + "/report.json")) numbers.push_back(epoch.at("epoch"));
    return numbers;
  }
  std::vector<std::pair<int64_t, int64_t>> steps() const {
    std::vector<std::pair<int64_t, int64_t>> numbers;
    std::istringstream lines(text("steps.jsonl"));
    for (std::string line; std::getline(lines, line);) {
      const Json record = Json::parse(line);
      numbers.emplace_back(record.at("epoch"), record.at("step"));
    }
    return numbers;
  }

  test::TemporaryFolder folder_;
};

TEST_F(RunFilesTest, NothingIsTouchedBeforeTheStart) {
  const RunFilesObserver files = observer();
  EXPECT_FALSE(fs::exists(folder()));
}

TEST_F(RunFilesTest, ReportHasExactlyTheKeysInOrder) {
  record_run();
  const Json report = read_json_object(folder() + "/report.json");
  EXPECT_EQ(report.at("config"), Json({{"seed", 1}}));
  EXPECT_TRUE(report.at("version").is_string());
  ASSERT_EQ(report.at("epochs").size(), 2u);
  std::vector<std::string> keys;
  for (const auto& [key, value] : report.at("epochs")[0].items()) keys.push_back(key);
  EXPECT_THAT(keys,
              ElementsAre("epoch", "mode", "decode", "images", "wall_s", "images_per_s", "data_wait_s",
                          "read_s", "decode_s", "resize_s", "h2d_s", "compute_s", "other_s", "hidden_share",
                          "alone_images_per_s", "alone_share", "gpu_util", "gpu_clock_mhz", "gpu_power_w",
                          "gpu_power_limited", "gpu_mem_bytes", "train_loss", "train_top1", "val_loss",
                          "val_top1", "val_top5", "bottleneck"));
  const Json& second = report.at("epochs")[1];
  EXPECT_EQ(second.at("epoch"), 2);
  EXPECT_EQ(second.at("read_s"), 0.25);
  EXPECT_TRUE(second.at("decode_s").is_null());
  EXPECT_TRUE(second.at("val_top1").is_null()) << "NaN is not JSON";
  EXPECT_EQ(read_json_object(folder() + "/config.json"), Json({{"seed", 1}}));
}

TEST_F(RunFilesTest, CsvHasAHeaderAndARowAnEpoch) {
  record_run();
  EXPECT_EQ(
      text("epochs.csv"),
      "epoch,mode,decode,images,wall_s,images_per_s,data_wait_s,read_s,decode_s,resize_s,h2d_s,compute_s,"
      "other_s,hidden_share,alone_images_per_s,alone_share,gpu_util,gpu_clock_mhz,gpu_power_w,gpu_power_"
      "limited,gpu_mem_bytes,train_loss,train_top1,val_"
      "loss,val_"
      "top1,val_top5,bottleneck\n"
      "1,\"overlapped\",\"cpu\",100,2.5,40.0,,0.25,,,,,,,,,,,,,,,,,,,\"Decoding takes 90%, \"\"most\"\" of "
      "it: "
      "try --workers 8.\"\n"
      "2,\"overlapped\",\"cpu\",100,2.5,40.0,,0.25,,,,,,,,,,,,,,,,,,,\"Decoding takes 90%, \"\"most\"\" of "
      "it: "
      "try --workers 8.\"\n");
}

TEST_F(RunFilesTest, StepsAreShortestNumbersAndNullForNonFinite) {
  StepRecord record = step_record(1, 2);
  EXPECT_EQ(
      step_line(record),
      R"({"epoch":1,"step":2,"images":50,"loss":0.1,"lr":0.1,"loss_scale":1,"begin_s":0,"read_s":0.125,"decode_s":0,)"
      R"("resize_s":0,"h2d_s":0,"compute_s":0,"data_wait_s":0})"
      "\n");
  record.loss = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(Json::parse(step_line(record)).at("loss").is_null());
  record.loss = 0.30000001f;
  EXPECT_EQ(Json::parse(step_line(record)).at("loss").get<float>(), record.loss);
}

TEST_F(RunFilesTest, UtilisationIsOfTheLastStart) {
  record_run();
  RunFilesObserver files = observer();
  files.on_start(1, 0);
  StepRecord step = step_record(1, 1);
  step.begin_s = 0.01;
  step.times.data_wait_s = 0.01;
  step.times.compute_s = 0.04;
  files.on_step(step);
  EXPECT_EQ(text("utilisation.csv"), "time_s,busy\n0.000,0.500\n0.020,1.000\n");
  files.on_epoch(epoch_report(1));
  EXPECT_EQ(text("utilisation.csv"), "time_s,busy\n0.000,0.500\n0.020,1.000\n0.040,1.000\n");
}

TEST_F(RunFilesTest, WithoutReportsThereAreNoSteps) {
  RunFilesObserver files = observer(/*steps=*/false);
  files.on_start(1, 0);
  files.on_step(step_record(1, 1));
  EXPECT_FALSE(exists("steps.jsonl"));
  EXPECT_FALSE(exists("utilisation.csv"));
  EXPECT_THAT(epochs(), ElementsAre());
}

TEST_F(RunFilesTest, AFreshRunReplacesAnother) {
  record_run();
  write_text(folder() + "/report.json", "broken");
  observer().on_start(1, 0);
  EXPECT_THAT(epochs(), ElementsAre());
  EXPECT_FALSE(exists("steps.jsonl"));
  EXPECT_FALSE(exists("bad_files.txt"));
}

TEST_F(RunFilesTest, ResumingInAnEpochKeepsWhatCameBefore) {
  record_run();
  RunFilesObserver files = observer();
  files.on_start(2, 1);
  EXPECT_THAT(epochs(), ElementsAre(1));
  EXPECT_THAT(steps(), ElementsAre(std::pair(1, 1), std::pair(1, 2), std::pair(2, 1)));
  EXPECT_EQ(text("bad_files.txt"), "a.jpg\tcut short\n");
  files.on_step(step_record(2, 2));
  files.on_epoch(epoch_report(2));
  EXPECT_THAT(epochs(), ElementsAre(1, 2));
  EXPECT_EQ(steps().size(), 4u);
  const std::string csv = text("epochs.csv");
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 3);
}

TEST_F(RunFilesTest, ResumingAtAnEpochDropsItsSteps) {
  record_run();
  observer().on_start(2, 0);
  EXPECT_THAT(epochs(), ElementsAre(1));
  EXPECT_THAT(steps(), ElementsAre(std::pair(1, 1), std::pair(1, 2)));
}

TEST_F(RunFilesTest, ResumingAfterTheEndKeepsAll) {
  record_run();
  observer().on_start(3, 0);
  EXPECT_THAT(epochs(), ElementsAre(1, 2));
  EXPECT_EQ(steps().size(), 4u);
}

TEST_F(RunFilesTest, ResumingInTheFirstEpochKeepsItsSteps) {
  record_run();
  observer().on_start(1, 1);
  EXPECT_THAT(epochs(), ElementsAre());
  EXPECT_THAT(steps(), ElementsAre(std::pair(1, 1)));
}

TEST_F(RunFilesTest, AStepLineThatWasCutOffIsDropped) {
  record_run();
  write_text(folder() + "/steps.jsonl", text("steps.jsonl") + R"({"epoch":3,"st)");
  observer().on_start(9, 0);
  EXPECT_EQ(steps().size(), 4u);
}

TEST_F(RunFilesTest, ResumingOnAForeignReportIsRefused) {
  write_text(folder() + "/report.json", R"({"epochs": 3})");
  RunFilesObserver files = observer();
  try {
    files.on_start(2, 0);
    FAIL() << "a foreign report.json was accepted";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr(folder() + "/report.json"));
  }
}

TEST_F(RunFilesTest, ABadFileIsListedOnce) {
  RunFilesObserver files = observer();
  files.on_start(1, 0);
  files.on_bad_file("a.jpg", "cut short");
  files.on_bad_file("b.jpg", "not an image");
  files.on_bad_file("a.jpg", "cut short");
  EXPECT_EQ(text("bad_files.txt"), "a.jpg\tcut short\nb.jpg\tnot an image\n");
}

TEST_F(RunFilesTest, AFolderThatCannotBeMadeIsNamed) {
  write_text(folder(), "a file");
  try {
    observer().on_start(1, 0);
    FAIL() << "a file was taken for a folder";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr(folder()));
  }
}

TEST(CompareTable, ShowsRunsSideBySide) {
  EpochReport fast = epoch_report(2);
  fast.images_per_s = 6104;
  fast.bottleneck = "";
  const std::string table =
      compare_table({{"serial", epoch_record(epoch_report(2))}, {"overlapped", epoch_record(fast)}});
  EXPECT_THAT(table, testing::StartsWith("                    serial  overlapped\n"));
  EXPECT_THAT(table, HasSubstr("\nimages/s              40.0       6,104\n"));
  EXPECT_THAT(table, HasSubstr("\ncompute                  -           -\n"));
  EXPECT_THAT(table, HasSubstr("\nserial:\n  Decoding takes 90%"));
  EXPECT_THAT(table, testing::Not(HasSubstr("overlapped:")));
}

}  // namespace
}  // namespace slipstream
