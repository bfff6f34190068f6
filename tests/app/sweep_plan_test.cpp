#include "app/sweep_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "app/option_table.h"
#include "app/sweep_name.h"
#include "tests/app/refusal.h"
#include "tests/support/test_support.h"

namespace slipstream {
namespace {

using testing::ElementsAre;

class SweepPlanTest : public testing::Test {
 protected:
  SweepPlan plan(const std::string& text, const std::string& data = {}) {
    test::write_text(path(), text);
    return plan_sweep(read_sweep_file(path()), data);
  }
  std::string refusal(const std::string& text) {
    return test::refusal([&] { check_runs(plan(text)); });
  }
  std::string path() const { return (folder_.path() / "s.json").string(); }

  /// The runs' values of some options, as "serial 8".
  static std::vector<std::string> values(const SweepPlan& plan, const std::vector<std::string>& keys) {
    std::vector<std::string> texts;
    for (const PlannedRun& run : plan.runs) {
      std::string& text = texts.emplace_back();
      for (const std::string& key : keys) text += (text.empty() ? "" : " ") + option_text(run.config.at(key));
    }
    return texts;
  }
  static std::vector<std::string> names(const SweepPlan& plan) {
    std::vector<std::string> all;
    for (const PlannedRun& run : plan.runs) all.push_back(run.name);
    return all;
  }

  test::TemporaryFolder folder_;
};

TEST_F(SweepPlanTest, TheGridsLastOptionVariesFastestAndRunsFollow) {
  const SweepPlan made = plan(R"({
    "base": {"lr": 0.5, "mode": "pinned", "data": "images"},
    "grid": {"mode": ["serial", "overlapped"], "batch_size": [8, 16, 32]},
    "runs": [{"lr": 1}, {"mode": "serial", "batch_size": 4}]})");
  EXPECT_THAT(values(made, {"mode", "batch_size", "lr"}),
              ElementsAre("serial 8 0.5", "serial 16 0.5", "serial 32 0.5", "overlapped 8 0.5",
                          "overlapped 16 0.5", "overlapped 32 0.5", "pinned 256 1", "serial 4 0.5"));
  EXPECT_THAT(made.differing, testing::UnorderedElementsAre("mode", "batch_size", "lr"));
  for (const PlannedRun& run : made.runs) {
    EXPECT_EQ(run.config.at("data"), "images");
    EXPECT_EQ(run.config.at("momentum"), 0.9);  // all options are there
    EXPECT_FALSE(run.config.contains("out"));
    EXPECT_FALSE(run.config.contains("resume"));
  }
  EXPECT_EQ(made.runs[0].place, path() + ":3: grid");
  EXPECT_EQ(made.runs[7].place, path() + ":4: runs[1]");
}

TEST_F(SweepPlanTest, DataOfTheCommandLineBeatsTheBases) {
  const SweepPlan made = plan(R"({"base": {"data": "a"}, "runs": [{}, {"data": "b"}]})", "c");
  EXPECT_THAT(values(made, {"data"}), ElementsAre("c", "b"));
}

TEST_F(SweepPlanTest, RepetitionsHaveSeedsOfTheirOwn) {
  const SweepPlan made = plan(R"({"base": {"seed": 7}, "grid": {"lr": [0.1, 1]}, "repeats": 2})");
  EXPECT_THAT(values(made, {"lr", "seed"}), ElementsAre("0.1 7", "0.1 8", "1 7", "1 8"));
  EXPECT_THAT(names(made), ElementsAre("0.1-r1", "0.1-r2", "1-r1", "1-r2"));
}

TEST_F(SweepPlanTest, NamesComeFromTheTemplate) {
  EXPECT_THAT(
      names(plan(R"({"grid": {"mode": ["serial", "pinned"]}, "name": "{n}: {mode}/bs{batch_size}"})")),
      ElementsAre("1__serial_bs256", "2__pinned_bs256"));
  EXPECT_THAT(names(plan(R"({"runs": [{}], "repeats": 2, "name": "{repeat}x"})")), ElementsAre("1x", "2x"));
  EXPECT_THAT(names(plan(R"({"runs": [{}]})")), ElementsAre("run"));
  EXPECT_THAT(names(plan(R"({"grid": {"lr": [0.1, 0.25], "tf32": [true]}, "runs": [{}]})")),
              ElementsAre("lr-0.1-tf32-true", "lr-0.25-tf32-true", "lr-0.1-tf32-false"));
}

TEST_F(SweepPlanTest, NamesThatCannotBeAreRefused) {
  const auto named = [&](const std::string& name) {
    return refusal(R"({"runs": [{}],)"
                   "\n\"name\": \"" +
                   name + "\"}");
  };
  const std::string at = path() + ":2: name";
  EXPECT_EQ(named("{batchsize}"), at + ": there is no option for {batchsize}; did you mean {batch_size}?");
  EXPECT_EQ(named("a{mode"), at + ": 'a{mode' has a brace alone; write {key}.");
  EXPECT_EQ(named("a}"), at + ": 'a}' has a brace alone; write {key}.");
  EXPECT_EQ(named(""), at + " is empty: leave it out to have names made.");
  EXPECT_EQ(named(".."),
            at + ": run 1 would be named '..'; a name has 1 to 200 letters and begins with no dot.");
  EXPECT_EQ(refusal("{\"grid\": {\"lr\": [1, 2], \"mode\": [\"serial\"]},\n\"name\": \"{mode}\"}"),
            at + ": runs 1 and 2 would both be named 'serial'; add what differs, one of lr.");
}

TEST_F(SweepPlanTest, EqualRunsAreRefused) {
  EXPECT_EQ(refusal("{\"grid\": {\"lr\": [0.1, 0.2]},\n\"runs\": [{\"lr\": 1},\n{\"lr\": 0.2}]}"),
            path() + ":3: runs[1]: run 4 is run 2 again: all their options are the same.");
  EXPECT_EQ(refusal("{\"grid\": {\"seed\": [0, 1]}, \"repeats\": 2}"),
            path() + ":1: grid: run 3 is run 2 again: all their options are the same.");
  EXPECT_EQ(refusal(R"({"base": {"seed": 9223372036854775807}, "runs": [{}], "repeats": 2})"),
            path() + ":1: runs[0]: seed 9223372036854775807 can't be raised by 1 for the last repetition.");
}

TEST_F(SweepPlanTest, WhatTrainRefusesIsRefusedBeforeTheFirstRun) {
  EXPECT_EQ(refusal("{\"base\": {\"synthetic\": true, \"device\": \"cpu\"},\n"
                    "\"grid\": {\"deterministic\": [true, false], \"cudnn_benchmark\": [false, true]}}"),
            path() +
                ":2: grid: run 'cudnn_benchmark-true-deterministic-true': --deterministic and "
                "--cudnn-benchmark exclude each other: the benchmark's choice varies");
  EXPECT_EQ(refusal("{\"runs\": [{\"data\": \"/nowhere\", \"device\": \"cpu\"}]}"),
            path() +
                ":1: runs[0]: run 'run': /nowhere/train: no such folder; --data names a folder that holds "
                "train/ and val/");
  EXPECT_EQ(refusal("{\"runs\": [{\"synthetic\": true, \"device\": \"cuda:1\"}]}"),
            path() +
                ":1: runs[0]: run 'run': --device cuda:1: a run sees one GPU, as cuda:0; name those to use "
                "by the sweep's --gpus");
}

TEST_F(SweepPlanTest, ErrorsInTheFileHaveTheirPlace) {
  const std::string at = path() + ":";
  EXPECT_EQ(refusal("{\n\"grid\": {\n\"batch_sise\": [8]}}"),
            at + "3: grid.batch_sise: there is no such option; did you mean batch_size?");
  EXPECT_EQ(refusal("{\n\"grid\": {\n\"batch_size\": [8,\n0]}}"),
            at + "4: grid.batch_size[1] must be a whole number, 1 to 65536, not 0.");
  EXPECT_EQ(
      refusal("{\"grid\": {\"mode\": [\"serial\", \"seriall\"]}}"),
      at +
          "1: grid.mode[1] must be one of serial, pinned, overlapped, not 'seriall'; did you mean 'serial'?");
  EXPECT_EQ(refusal("{\"grid\": {\"lr\": 0.5}}"),
            at + "1: grid.lr must be an array of values, such as [0.5].");
  EXPECT_EQ(refusal("{\"grid\": {\"lr\": []}}"),
            at + "1: grid.lr has no values: name some, or leave it out.");
  EXPECT_EQ(refusal("{\"grid\": {\"lr\": [1,\n 0.5,\n 1.0]}}"), at + "3: grid.lr[2] repeats grid.lr[0].");
  EXPECT_EQ(refusal("{\"grid\": {}}"),
            at + "1: grid is empty: name an option and its values, or leave it out.");
  EXPECT_EQ(refusal("{\"grid\": []}"), at + "1: grid must be an object of arrays, not array.");
  EXPECT_EQ(refusal("{\"runs\": []}"), at + "1: runs is empty: add an object of options, or leave it out.");
  EXPECT_EQ(refusal("{\"runs\": {}}"), at + "1: runs must be an array of objects, not object.");
  EXPECT_EQ(refusal("{\"runs\": [{},\n3]}"), at + "2: runs[1] must be an object of options, not number.");
  EXPECT_EQ(refusal("{\"runs\": [{\"tf32\": 1}]}"), at + "1: runs[0].tf32 must be true or false, not 1.");
  EXPECT_EQ(refusal("{\"base\": {\"epoch\": 1}, \"runs\": [{}]}"),
            at + "1: base.epoch: there is no such option; did you mean epochs?");
  EXPECT_EQ(
      refusal("{\"base\": {\"out\": \"a\"}, \"runs\": [{}]}"),
      at + "1: base.out: the sweep chooses it for each run; its own folder is --out on the command line.");
  EXPECT_EQ(refusal("{\"girds\": {}}"), at + "1: girds: a sweep has no such part; did you mean grid?");
  EXPECT_EQ(refusal("{\"runs\": [{}], \"repeats\": 0}"),
            at + "1: repeats must be a whole number, 1 to 1000, not 0.");
  EXPECT_EQ(refusal("{\"base\": {\"lr\": 1}}"), at + "1: there is nothing to run; add a grid, or runs.");
  EXPECT_EQ(refusal("{}"), at + "1: there is nothing to run; add a grid, or runs.");
}

TEST_F(SweepPlanTest, AGridThatExplodesIsRefused) {
  std::string seeds;
  for (int i = 0; i < 101; ++i) seeds += (i > 0 ? "," : "") + std::to_string(i);
  EXPECT_EQ(refusal("{\"grid\": {\"seed\": [" + seeds + "], \"prefetch\": [1], \"limit_batches\": [" + seeds +
                    "]}}"),
            path() + ":1: grid makes more than 10000 runs.");
}

TEST(ReadySweeps, CanBePlanned) {
  const auto count = [](const char* name) {
    return plan_sweep(read_sweep_file((test::source_folder() / "configs" / name).string())).runs.size();
  };
  EXPECT_EQ(count("sweep_modes.json"), 14U);
  EXPECT_EQ(count("sweep_compute.json"), 36U);
  EXPECT_EQ(count("sweep_lr.json"), 8U);
  EXPECT_EQ(count("sweep_small_cpu.json"), 4U);
}

}  // namespace
}  // namespace slipstream
