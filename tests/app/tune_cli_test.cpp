// Runs `slipstream tune` as a person would.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/support/test_support.h"

namespace slipstream {
namespace {
namespace fs = std::filesystem;
using nlohmann::json;
using test::CommandResult;
using test::read_text;
using testing::ContainsRegex;
using testing::HasSubstr;

class TuneCliTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new test::TemporaryFolder;
    const CommandResult made = test::run_command(test::executable() + " synth " + path("images") +
                                                 " --classes 4 --train 60 --val 2 --max-size 64");
    ASSERT_EQ(made.exit_code, 0) << made.errors;
  }
  static void TearDownTestSuite() { delete folder_; }
  static std::string path(const std::string& name) { return (folder_->path() / name).string(); }
  /// One thread a run: a machine that is busy with other tests would make more wait for one another.
  static std::string command(const std::string& more) {
    return fmt::format(
        "OMP_NUM_THREADS=1 {} tune --data {} --arch resnet18 --image-size 32 --batch-size 4 --lr 0.02 "
        "--device cpu {}",
        test::executable(), path("images"), more);
  }
  static CommandResult tune(const std::string& more) { return test::run_command(command(more)); }
  static test::TemporaryFolder* folder_;
};
test::TemporaryFolder* TuneCliTest::folder_ = nullptr;

/// The options that `train` has after it read the file.
json options_of(const std::string& file) {
  const CommandResult shown =
      test::run_command(test::executable() + " train --config " + file + " --print-config");
  EXPECT_EQ(shown.exit_code, 0) << shown.errors;
  return json::parse(shown.output);
}

TEST_F(TuneCliTest, WritesAConfigurationThatTrainTakes) {
  const std::string out = path("new/tuned.json"), figures = path("tune.json");
  const CommandResult run = tune("--budget 500 --trial 0.1 --batch-sizes 8 --weight-decay 0.001 --out " +
                                 out + " --json " + figures);
  ASSERT_EQ(run.exit_code, 0) << run.output << run.errors;
  EXPECT_THAT(run.output, HasSubstr("for 240 images, resnet18 at 32 px, overlapped, CPU decode, on cpu; "));
  EXPECT_THAT(run.output, ContainsRegex("\nwarm-up +[0-9.,]+ images/s .*counts nowhere"));
  EXPECT_THAT(run.output, ContainsRegex("\nwithout input, batch 4 +[0-9.,]+ images/s .*the ceiling"));
  EXPECT_THAT(run.output, ContainsRegex("\nbatch 4, workers [0-9]+, prefetch 4 .*the start"));
  EXPECT_THAT(run.output, ContainsRegex("\nbatch 8, workers [0-9]+, prefetch [0-9]+ .*(faster|noise)"));
  EXPECT_THAT(run.output, ContainsRegex("\nEqual trials differ by [0-9.]+%"));
  EXPECT_THAT(run.output, ContainsRegex("\n(Input|Compute) limits now: the step waits for input"));
  EXPECT_THAT(run.output,
              HasSubstr("\nWritten for slipstream train --config " + out + ":\n" + read_text(out)));

  const json result = json::parse(read_text(figures));
  EXPECT_EQ(result["kind"], "tune");
  EXPECT_EQ(result["version"], 1);
  EXPECT_EQ(result["file"], out);
  EXPECT_EQ(result["config"], json::parse(read_text(out)));
  EXPECT_THAT(result["command"].get<std::string>(), HasSubstr("tune --data " + path("images")));
  EXPECT_LE(result["spent_s"], 500);
  ASSERT_GE(result["trials"].size(), 5U);
  EXPECT_EQ(result["trials"][0]["kind"], "warm-up");
  EXPECT_EQ(result["trials"][1]["kind"], "ceiling");
  EXPECT_EQ(result["trials"][2]["kind"], "baseline");
  bool tried_batch = false;
  for (const json& trial : result["trials"]) {
    EXPECT_TRUE(trial["failure"].is_null()) << trial;
    EXPECT_GT(trial["images_per_s"], 0);
    EXPECT_GT(trial["took_s"], 0.1);
    tried_batch = tried_batch || trial["batch_size"] == 8;
  }
  EXPECT_TRUE(tried_batch);

  const json options = options_of(out);
  for (const char* key : {"workers", "prefetch", "batch_size"})
    EXPECT_EQ(options[key], result["chosen"][key]);
  EXPECT_EQ(options["data"], path("images"));
  EXPECT_EQ(options["lr"], 0.02);
  EXPECT_EQ(options["weight_decay"], 0.001);
  EXPECT_EQ(options["epochs"], 90) << "trials' own options stay theirs";
  EXPECT_EQ(options["log_interval"], 20);
  const CommandResult trained = test::run_command(
      fmt::format("OMP_NUM_THREADS=1 {} train --config {} --epochs 1 --limit-batches 2 --out {}",
                  test::executable(), out, path("run")));
  ASSERT_EQ(trained.exit_code, 0) << trained.errors;
  EXPECT_FALSE(json::parse(read_text(path("run/report.json")))["epochs"][0]["val_top1"].is_null());
  const auto files = std::distance(fs::directory_iterator(path("new")), fs::directory_iterator());
  EXPECT_EQ(files, 1) << "the trials' files are gone";
}

TEST_F(TuneCliTest, BeginsWithAConfigurationAndPrintsJsonAlone) {
  test::write_text(path("base.json"), R"({"mode": "pinned", "out": "runs/mine", "workers": 2, "epochs": 7})");
  const CommandResult run =
      tune("--config " + path("base.json") + " --budget 500 --trial 0.1 --prefetch 2 --json - --out " +
           path("from_base.json"));
  ASSERT_EQ(run.exit_code, 0) << run.errors;
  const json result = json::parse(run.output);
  EXPECT_EQ(result["baseline"]["workers"], 2);
  EXPECT_EQ(result["baseline"]["prefetch"], 2);
  EXPECT_EQ(result["chosen"]["batch_size"], 4);
  const json options = options_of(path("from_base.json"));
  EXPECT_EQ(options["mode"], "pinned");
  EXPECT_EQ(options["out"], "runs/mine");
  EXPECT_EQ(options["epochs"], 7);
}

TEST_F(TuneCliTest, SaysWhatABudgetMustBe) {
  const CommandResult little = tune("--budget 1 --image-size 224 --batch-size 64 --out " + path("no.json"));
  EXPECT_EQ(little.exit_code, 1);
  EXPECT_THAT(little.errors, HasSubstr("slipstream: --budget 1: too few steps of training end in it"));
  EXPECT_FALSE(fs::exists(path("no.json")));
  const CommandResult more = tune("--budget 12 --trial 1.7 --out " + path("no.json"));
  EXPECT_EQ(more.exit_code, 1);
  EXPECT_THAT(more.errors, ContainsRegex("--budget 12: too little .* Give --budget [0-9]+, or"));
  EXPECT_FALSE(fs::exists(path("no.json")));
}

TEST_F(TuneCliTest, FailsWithTheSentenceOfATrainingThatFails) {
  const std::string weights = path("weights.pt");
  test::write_text(weights, "no weights");
  const CommandResult failed = tune("--weights " + weights + " --out " + path("no.json"));
  EXPECT_EQ(failed.exit_code, 1);
  EXPECT_THAT(failed.errors, testing::StartsWith("slipstream: warm-up: "));
  EXPECT_THAT(failed.errors, HasSubstr(weights));
  EXPECT_FALSE(fs::exists(path("no.json")));
}

TEST_F(TuneCliTest, StopsOnASignal) {
  const CommandResult stopped = test::run_command(fmt::format(
      "{} & P=$!; for i in $(seq 3000); do test -e {}.*/runs/trial/output.txt && break; sleep "
      "0.02; done; kill -TERM $P; wait $P",
      command("--budget 1000 --trial 100 --out " + path("stopped/tuned.json")), path("stopped/tuned.json")));
  EXPECT_EQ(stopped.exit_code, 143) << stopped.errors;
  EXPECT_EQ(stopped.errors, "slipstream: Stopped; nothing is written.\n");
  EXPECT_TRUE(fs::is_empty(path("stopped")));
}

TEST_F(TuneCliTest, SaysWhatIsWrongBeforeTheFirstTrial) {
  const auto refuses = [](const std::string& more, const std::string& sentence) {
    const CommandResult refused = tune("--out " + path("wrong/tuned.json") + " " + more);
    EXPECT_EQ(refused.exit_code, 2) << more;
    EXPECT_THAT(refused.errors, HasSubstr(sentence)) << more;
    EXPECT_FALSE(fs::exists(path("wrong"))) << more;
  };
  refuses("--batch-sizes x", "--batch-sizes takes whole numbers");
  refuses("--batch-sizes 8,241", "241 is more than the 240 images");
  refuses("--batch-size 241", "--batch-size: 241 is more than the 240 images");
  refuses("--budget 180 --trial 30", "--trial 30: 7 trials are the least, and --budget 180 has no room");
  refuses("--json " + path("nowhere/tune.json"), "there is no folder " + path("nowhere"));
  refuses("--json " + path("images"), "is a folder; name a file");
  refuses("--data /nowhere", "/nowhere: no such folder");
  refuses("--mode serial", "--mode serial has no threads to tune");
  refuses("--budget 0", "--budget");
  refuses("--out " + path("images"), "is a folder; name a file");
  refuses("--synthetic", "--synthetic: no such option");
  refuses("--workers 0", "--workers 0");
  test::write_text(path("odd.json"), R"({"wrokers": 2})");
  refuses("--config " + path("odd.json"), "did you mean workers?");
}

}  // namespace
}  // namespace slipstream
