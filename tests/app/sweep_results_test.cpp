#include "app/sweep_results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "app/sweep_figures.h"
#include "app/sweep_files.h"
#include "app/sweep_gpus.h"
#include "app/sweep_runner.h"
#include "app/sweep_table.h"
#include "tests/app/refusal.h"
#include "tests/support/test_support.h"

namespace slipstream {
namespace {
namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

PlannedRun planned(const std::string& name, double lr) {
  return {.name = name, .place = {}, .config = {{"lr", lr}, {"mode", "serial"}, {"epochs", 2}}};
}

SweepResult done(const PlannedRun& run, double top1) {
  SweepResult result{.name = run.name, .config = run.config};
  result.run_s = 3.5;
  result.epoch = {{"epoch", 2},        {"wall_s", 1.5},       {"images_per_s", 1000 * top1},
                  {"train_loss", 0.1}, {"train_top1", 0.875}, {"val_loss", 2.},
                  {"val_top1", top1}};
  return result;
}

SweepResult failed(const PlannedRun& run, RunStatus status, const std::string& error) {
  return {.name = run.name, .config = run.config, .status = status, .error = error};
}

class SweepResultsTest : public testing::Test {
 protected:
  SweepResultsTest() {
    plan_.runs = {planned("slow", 0.1), planned("best", 0.2), planned("fast", 1), planned("left", 2)};
    plan_.differing = {"lr"};
  }
  /// All but the last run have results.
  void add_results() {
    SweepResults results(file());
    results.add(done(plan_.runs[0], 0.25));
    results.add(failed(plan_.runs[2], RunStatus::kFailed, "It \"broke\".\nBadly."));
    results.add(done(plan_.runs[1], 0.5));
  }
  std::string file() const { return (folder_.path() / "results.jsonl").string(); }

  test::TemporaryFolder folder_;
  SweepPlan plan_;
};

TEST_F(SweepResultsTest, AreThereAgainForTheirConfigurations) {
  add_results();
  SweepResults again(file());
  const SweepResult* best = again.find(plan_.runs[1].config);
  ASSERT_NE(best, nullptr);
  EXPECT_EQ(result_record(*best), result_record(done(plan_.runs[1], 0.5)));
  const SweepResult* broken = again.find({{"epochs", 2}, {"mode", "serial"}, {"lr", 1.0}});  // in any order
  ASSERT_NE(broken, nullptr);
  EXPECT_EQ(broken->status, RunStatus::kFailed);
  EXPECT_EQ(broken->error, "It \"broke\".\nBadly.");
  EXPECT_EQ(again.find(plan_.runs[3].config), nullptr);
}

TEST_F(SweepResultsTest, TheLastOfSeveralCounts) {
  add_results();
  SweepResults results(file());
  results.add(done(plan_.runs[2], 0.75));
  EXPECT_EQ(results.find(plan_.runs[2].config)->status, RunStatus::kDone);
  EXPECT_EQ(SweepResults(file()).find(plan_.runs[2].config)->status, RunStatus::kDone);
}

TEST_F(SweepResultsTest, ALineCutOffAtAnyByteIsNoResultAndGoes) {
  add_results();
  const std::string whole = test::read_text(file());
  const size_t second = whole.find('\n', whole.find('\n') + 1) + 1;
  for (size_t length = second; length < whole.size(); length += 7) {
    test::write_text(file(), whole.substr(0, length));
    SweepResults results(file());
    EXPECT_EQ(results.find(plan_.runs[1].config), nullptr) << length;
    ASSERT_NE(results.find(plan_.runs[2].config), nullptr) << length;
    results.add(done(plan_.runs[1], 0.5));
    EXPECT_EQ(test::read_text(file()), whole) << length;
  }
}

TEST_F(SweepResultsTest, AStrangeLineIsNamed) {
  add_results();
  test::write_text(file(), test::read_text(file()) + "oops\n");
  EXPECT_THAT(
      test::refusal([&] { SweepResults{file()}; }),
      StartsWith(file() + ":4: not a result of a sweep; remove the line to have its run done again. "));
}

TEST_F(SweepResultsTest, DueAreThoseWithoutAResultAndOnDemandThoseNotDone) {
  add_results();
  SweepResults results(file());
  auto due = due_runs(plan_, results, /*retries=*/false);
  ASSERT_EQ(due.size(), 1U);
  EXPECT_EQ(due[0].run->name, "left");
  EXPECT_FALSE(due[0].anew);
  results.add(failed(plan_.runs[3], RunStatus::kTimedOut, "Too long."));
  EXPECT_TRUE(due_runs(plan_, results, /*retries=*/false).empty());
  due = due_runs(plan_, results, /*retries=*/true);
  ASSERT_EQ(due.size(), 2U);
  EXPECT_EQ(due[0].run->name, "fast");
  EXPECT_TRUE(due[0].anew);  // its checkpoint may be why it failed
  EXPECT_EQ(due[1].run->name, "left");
  EXPECT_FALSE(due[1].anew);  // it goes on with more time
}

TEST_F(SweepResultsTest, TheTableIsAligned) {
  add_results();
  const SweepResults results(file());
  EXPECT_EQ(sweep_table(plan_, sweep_rows(plan_, results)),
            "run    lr  epoch time  images/s  top-1   loss  status\n"
            "slow  0.1     1.500 s       250  25.0%  2.000    done\n"
            "best  0.2     1.500 s       500  50.0%  2.000    done\n"
            "fast    1           -         -      -      -  failed\n"
            "left    2           -         -      -      -   to do\n"
            "\n"
            "fast:\n"
            "  It \"broke\". Badly.\n");
  EXPECT_EQ(plan_table(plan_),
            "run    lr\n"
            "slow  0.1\n"
            "best  0.2\n"
            "fast    1\n"
            "left    2\n");
}

TEST_F(SweepResultsTest, SortsBestFirstAndWhatHasNoValueLast) {
  add_results();
  const SweepResults results(file());
  const auto sorted = [&](const std::string& key) {
    std::vector<SweepRow> rows = sweep_rows(plan_, results);
    std::reverse(rows.begin(), rows.end());
    sort_rows(rows, key);
    std::vector<std::string> names;
    for (const SweepRow& row : rows) names.push_back(row.run->name);
    return names;
  };
  EXPECT_THAT(sorted("top1"), ElementsAre("best", "slow", "left", "fast"));
  EXPECT_THAT(sorted("loss"), ElementsAre("best", "slow", "left", "fast"));  // equal ones keep their order
  EXPECT_THAT(sorted("lr"), ElementsAre("slow", "best", "fast", "left"));
  EXPECT_THAT(sorted("run"), ElementsAre("best", "fast", "left", "slow"));
  EXPECT_THAT(sorted("status"), ElementsAre("best", "slow", "fast", "left"));
  EXPECT_EQ(
      test::refusal([&] { check_sort_key(plan_, "top-1"); }),
      "--sort must be one of run, status, epoch_s, images_per_s, top1, loss, lr, not 'top-1'; did you mean "
      "'top1'?");
}

TEST_F(SweepResultsTest, TheBestIsDone) {
  SweepResults results(file());
  std::vector<SweepRow> rows = sweep_rows(plan_, results);
  EXPECT_EQ(best_row(rows, "top1"), nullptr);
  add_results();
  SweepResult stopped = done(plan_.runs[3], 0.9);
  stopped.status = RunStatus::kTimedOut;
  SweepResults more(file());
  more.add(stopped);
  rows = sweep_rows(plan_, more);
  ASSERT_NE(best_row(rows, "top1"), nullptr);
  EXPECT_EQ(best_row(rows, "top1")->run->name, "best");
}

TEST_F(SweepResultsTest, AccuracyIsTheTrainingsWhereNothingIsValidated) {
  SweepResult result = done(plan_.runs[0], 0.25);
  result.epoch["val_top1"] = nullptr;
  EXPECT_EQ(figure_cell(*find_figure("top1"), &result), "87.5%");
  EXPECT_EQ(figure_cell(*find_figure("top1"), nullptr), "-");
  EXPECT_EQ(find_figure("accuracy"), nullptr);
}

TEST_F(SweepResultsTest, FilesAreInThePlansOrder) {
  add_results();
  write_sweep_files(SweepFolder(folder_.path().string()), plan_, sweep_rows(plan_, SweepResults(file())));
  EXPECT_EQ(test::read_text(folder_.path() / "results.csv"),
            "run,lr,epoch_s,images_per_s,top1,loss,status,error\n"
            "\"slow\",0.1,1.5,250.0,0.25,2.0,\"done\",\n"
            "\"best\",0.2,1.5,500.0,0.5,2.0,\"done\",\n"
            "\"fast\",1.0,,,,,\"failed\",\"It \"\"broke\"\".\nBadly.\"\n"
            "\"left\",2.0,,,,,,\n");
  const Json records = Json::parse(test::read_text(folder_.path() / "results.json"));
  ASSERT_EQ(records.size(), 3U);
  EXPECT_EQ(records[1], result_record(done(plan_.runs[1], 0.5)));
  EXPECT_EQ(records[2].at("status"), "failed");
}

TEST(SweepGpus, AreThoseOfTheListAsThisProcessSeesThem) {
  EXPECT_THAT(gpus_to_use("", nullptr, 3), ElementsAre("0", "1", "2"));
  EXPECT_THAT(gpus_to_use("2,0", nullptr, 3), ElementsAre("2", "0"));
  EXPECT_THAT(gpus_to_use("1", "4,GPU-7a", 2), ElementsAre("GPU-7a"));
  EXPECT_THAT(gpus_to_use("", "5,6", 2), ElementsAre("5", "6"));
  EXPECT_TRUE(gpus_to_use("", nullptr, 0).empty());
  EXPECT_TRUE(gpus_to_use("", nullptr, -1).empty());
}

TEST(SweepGpus, ThatAreNotThereAreRefused) {
  for (const char* list : {"0,3", "-1", "0,", ",0", "a", "1x", "0 1", ""}) {
    const std::string given = *list == '\0' ? "," : list;
    EXPECT_THAT(test::refusal([&] { gpus_to_use(given, nullptr, 3); }),
                HasSubstr("is no GPU of this machine; they count from 0 to 2."))
        << given;
  }
  EXPECT_THAT(test::refusal([] { gpus_to_use("0", nullptr, 0); }), HasSubstr("has no GPU"));
  EXPECT_THAT(test::refusal([] { gpus_to_use("0", nullptr, -1); }), HasSubstr("has no CUDA"));
}

}  // namespace
}  // namespace slipstream
