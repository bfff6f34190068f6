// Runs `slipstream compare` as a person would.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/support/test_support.h"

namespace slipstream {
namespace {
namespace fs = std::filesystem;
using nlohmann::json;
using test::CommandResult;
using test::read_text;
using testing::ContainsRegex;
using testing::ElementsAre;
using testing::HasSubstr;

class CompareCliTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new test::TemporaryFolder;
    const CommandResult made = test::run_command(test::executable() + " synth " + path("images") +
                                                 " --classes 4 --train 10 --val 2 --max-size 64");
    ASSERT_EQ(made.exit_code, 0) << made.errors;
  }
  static void TearDownTestSuite() { delete folder_; }
  static std::string path(const std::string& name) { return (folder_->path() / name).string(); }
  /// One thread a run: a machine that is busy with other tests would make more wait for one another.
  static std::string command(const std::string& out, const std::string& more) {
    return fmt::format(
        "OMP_NUM_THREADS=1 {} compare --data {} --out {} --arch resnet18 --image-size 32 --batch-size 8 --lr "
        "0.02 --device cpu {}",
        test::executable(), path("images"), path(out), more);
  }
  static CommandResult compare(const std::string& out, const std::string& more) {
    return test::run_command(command(out, more));
  }
  static test::TemporaryFolder* folder_;
};
test::TemporaryFolder* CompareCliTest::folder_ = nullptr;

TEST_F(CompareCliTest, TrainsTheSameInEveryModeAndEndsInASentence) {
  const CommandResult run = compare("all", "--rounds 2 --trace --trace-steps 3");
  ASSERT_EQ(run.exit_code, 0) << run.output << run.errors;
  EXPECT_THAT(run.output, HasSubstr("GPU decode is left out"));
  EXPECT_THAT(run.output, HasSubstr("4 ways to train, 2 rounds, into " + path("all/runs")));
  EXPECT_THAT(run.output, ContainsRegex("\nserial, CPU decode .* 1.00x .* agree\n"
                                        "pinned, CPU decode .* agree\n"
                                        "overlapped, CPU decode .* agree\n"
                                        "synthetic .* 100.0% +agree\n"
                                        "\noverlapped is [0-9.]+x serial.*; input is hidden to .*\n$"));

  const json result = json::parse(read_text(path("all/compare.json")));
  EXPECT_EQ(result["kind"], "compare");
  EXPECT_EQ(result["version"], 1);
  EXPECT_EQ(result["rounds"], 2);
  EXPECT_EQ(result["deterministic"], true);
  EXPECT_EQ(result["losses_agree"], true);
  EXPECT_THAT(result["device"].get<std::string>(), ContainsRegex("CPU, [0-9]+ cores"));
  EXPECT_THAT(result["command"].get<std::string>(), HasSubstr("compare --data " + path("images")));
  EXPECT_THAT(run.output, HasSubstr(result["sentence"].get<std::string>()));
  ASSERT_EQ(result["rows"].size(), 4U);
  std::vector<std::string> losses;
  for (const json& row : result["rows"]) {
    ASSERT_EQ(row["runs"].size(), 2U);
    for (const json& name : row["runs"]) {
      const fs::path folder = fs::path(path("all")) / name.get<std::string>();
      const json report = json::parse(read_text(folder / "report.json"));
      ASSERT_EQ(report["epochs"].size(), 2U);
      EXPECT_EQ(report["epochs"][1]["images"], 40);
      EXPECT_EQ(report["epochs"][1]["mode"], row["mode"]);
      EXPECT_EQ(report["epochs"][1]["decode"], row["decode"]);
      EXPECT_TRUE(report["epochs"][1]["val_loss"].is_null());
      if (row["synthetic"] == false) losses.push_back(report["epochs"][1]["train_loss"].dump());
      EXPECT_FALSE(json::parse(read_text(folder / "trace.json"))["traceEvents"].empty());
      EXPECT_THAT(read_text(folder / "utilisation.csv"), testing::StartsWith("time_s,busy\n"));
      EXPECT_FALSE(fs::exists(folder / "model.pt"));
      EXPECT_FALSE(fs::exists(folder / "checkpoint.pt"));
    }
    const json& epoch_s = row["epoch_s"];
    EXPECT_GT(epoch_s["min"], 0);
    EXPECT_LE(epoch_s["min"], epoch_s["median"]);
    EXPECT_LE(epoch_s["median"], epoch_s["max"]);
  }
  EXPECT_EQ(result["rows"][2]["runs"], json({"runs/round1/overlapped-cpu", "runs/round2/overlapped-cpu"}));
  ASSERT_EQ(losses.size(), 6U);
  EXPECT_EQ(std::set(losses.begin(), losses.end()).size(), 1U);
}

TEST_F(CompareCliTest, TakesTheModesThatItIsTold) {
  const CommandResult run = compare("some", "--rounds 1 --epochs 1 --modes overlapped --limit-batches 2");
  ASSERT_EQ(run.exit_code, 0) << run.errors;
  const json result = json::parse(read_text(path("some/compare.json")));
  ASSERT_EQ(result["rows"].size(), 2U);
  EXPECT_EQ(result["rows"][0]["name"], "overlapped, CPU decode");
  const json report = json::parse(read_text(path("some/runs/round1/overlapped-cpu/report.json")));
  EXPECT_EQ(report["epochs"][0]["images"], 16);
}

TEST_F(CompareCliTest, FailsWithTheRunThatFails) {
  const std::string weights = path("weights.pt");
  test::write_text(weights, "no weights");
  const CommandResult failed = compare("failing", "--rounds 1 --weights " + weights);
  EXPECT_EQ(failed.exit_code, 1);
  EXPECT_THAT(failed.errors, HasSubstr("slipstream: round 1, serial, CPU decode: failed. "));
  EXPECT_THAT(failed.errors, HasSubstr(weights));
  EXPECT_THAT(failed.errors, HasSubstr("Its output is in " + path("failing/runs/round1/serial-cpu")));
  EXPECT_FALSE(fs::exists(path("failing/compare.json")));
}

TEST_F(CompareCliTest, StopsOnASignal) {
  const CommandResult stopped = test::run_command(fmt::format(
      "{} & P=$!; for i in $(seq 3000); do test -e {} && break; sleep 0.02; done; kill -TERM $P; wait $P",
      command("stopped", "--epochs 500"), path("stopped/runs/round1/serial-cpu/steps.jsonl")));
  EXPECT_EQ(stopped.exit_code, 143) << stopped.errors;
  EXPECT_EQ(stopped.errors, "slipstream: Stopped; the same command begins anew.\n");
  EXPECT_FALSE(fs::exists(path("stopped/runs/round1/pinned-cpu")));
}

TEST_F(CompareCliTest, SaysWhatIsWrongBeforeTheFirstRun) {
  const auto refuses = [](const std::string& more, const std::string& sentence) {
    const CommandResult refused = compare("wrong", more);
    EXPECT_EQ(refused.exit_code, 2) << more;
    EXPECT_THAT(refused.errors, HasSubstr(sentence)) << more;
    EXPECT_FALSE(fs::exists(path("wrong")));
  };
  refuses("--modes serial,paralel", "'paralel'; did you mean");
  refuses("--decoders cuda", "--decode cuda");
  refuses("--rounds 0", "--rounds");
  refuses("--data /nowhere", "/nowhere: no such folder");
  refuses("--mode serial", "did you mean --modes?");
  refuses("--workers 0", "--workers 0");
}

}  // namespace
}  // namespace slipstream
