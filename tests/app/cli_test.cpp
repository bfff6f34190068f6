// Runs the executable as a person would.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/support/test_support.h"

namespace slipstream {
namespace {
namespace fs = std::filesystem;

using test::CommandResult;
using test::read_text;
using testing::HasSubstr;
using testing::Not;

CommandResult slipstream(const std::string& arguments) {
  return test::run_command(test::executable() + " " + arguments);
}

std::vector<nlohmann::json> json_lines(const fs::path& path) {
  std::vector<nlohmann::json> lines;
  std::istringstream text(read_text(path));
  for (std::string line; std::getline(text, line);) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

class CliTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new test::TemporaryFolder;
    const CommandResult made =
        slipstream("synth " + images() + " --classes 4 --train 12 --val 5 --max-size 96");
    ASSERT_EQ(made.exit_code, 0) << made.errors;
  }
  static void TearDownTestSuite() { delete folder_; }

  static std::string path(const std::string& name) { return (folder_->path() / name).string(); }
  static std::string images() { return path("images"); }

  static std::string train(const std::string& out, const std::string& more = "") {
    return fmt::format(
        "train --data {} --out {} --arch resnet18 --image-size 32 --batch-size 8 --epochs 2 --lr 0.02 "
        "--device cpu {}",
        images(), path(out), more);
  }

  // Starts a run of many epochs and sends it a signal once it has reported `epoch`.
  static CommandResult train_until(const std::string& out, int epoch, const std::string& signal,
                                   const std::string& more = "") {
    return test::run_command(fmt::format(
        "{} {} & P=$!; for i in $(seq 600); do grep -q '^{},' {}/epochs.csv && break; sleep 0.1; done; "
        "kill -{} $P; wait $P",
        test::executable(), train(out, "--epochs 500 --lr-schedule constant " + more), epoch, path(out),
        signal));
  }

  static test::TemporaryFolder* folder_;
};
test::TemporaryFolder* CliTest::folder_ = nullptr;

TEST_F(CliTest, TellsItsVersionAndHelps) {
  const CommandResult version = slipstream("--version");
  EXPECT_EQ(version.exit_code, 0);
  EXPECT_THAT(version.output, testing::MatchesRegex("slipstream [0-9.]+ \\((cpu|cuda)\\)\n"));
  EXPECT_THAT(slipstream("").output, HasSubstr("train"));
  const CommandResult help = slipstream("train --help");
  EXPECT_EQ(help.exit_code, 0);
  for (const char* option : {"--batch-size", "--mode", "--channels-last", "--resume", "--bad-files"}) {
    EXPECT_THAT(help.output, HasSubstr(option));
  }
}

TEST_F(CliTest, TrainsAndLeavesItsReports) {
  const CommandResult run = slipstream(train("run"));
  ASSERT_EQ(run.exit_code, 0) << run.errors;
  EXPECT_THAT(run.output, HasSubstr("epoch 1: "));
  EXPECT_THAT(run.output, HasSubstr("epoch 2: "));
  EXPECT_THAT(run.output, HasSubstr("-bound"));

  const auto report = nlohmann::json::parse(read_text(path("run/report.json")));
  ASSERT_EQ(report["epochs"].size(), 2U);
  std::vector<std::string> keys;
  for (const auto& item : report["epochs"][0].items()) keys.push_back(item.key());
  EXPECT_THAT(keys, testing::UnorderedElementsAre("epoch", "mode", "decode", "images", "wall_s",
                                                  "images_per_s", "data_wait_s", "read_s", "decode_s",
                                                  "resize_s", "h2d_s", "compute_s", "hidden_share",
                                                  "gpu_util", "gpu_mem_bytes", "train_loss", "train_top1",
                                                  "val_loss", "val_top1", "val_top5", "bottleneck"));
  EXPECT_EQ(report["epochs"][1]["images"], 48);
  EXPECT_TRUE(report["epochs"][1]["gpu_util"].is_null());

  const auto steps = json_lines(path("run/steps.jsonl"));
  ASSERT_EQ(steps.size(), 12U);
  EXPECT_EQ(steps[7]["epoch"], 2);
  EXPECT_EQ(steps[7]["step"], 2);
  const auto config = nlohmann::json::parse(read_text(path("run/config.json")));
  EXPECT_EQ(config["batch_size"], 8);
  EXPECT_TRUE(fs::exists(path("run/checkpoint.pt")));
  EXPECT_TRUE(fs::exists(path("run/model.pt")));
  EXPECT_THAT(slipstream("summary " + path("run")).output, HasSubstr("images/s"));
}

TEST_F(CliTest, StopsOnASignalAndResumesWithNothingLost) {
  const CommandResult stopped = train_until("parts", /*epoch=*/1, "TERM");
  EXPECT_EQ(stopped.exit_code, 143) << stopped.errors;
  const auto before = json_lines(path("parts/steps.jsonl"));
  ASSERT_GE(before.size(), 6U);
  EXPECT_TRUE(fs::exists(path("parts/checkpoint.pt")));
  const CommandResult more = train_until("parts", /*epoch=*/3, "INT", "--resume");
  EXPECT_EQ(more.exit_code, 130) << more.errors;
  const auto after = json_lines(path("parts/steps.jsonl"));
  ASSERT_GT(after.size(), before.size());
  for (size_t i = 0; i < after.size(); ++i) {  // no step is missing, none is there twice
    EXPECT_EQ(after[i]["epoch"], static_cast<int64_t>(i / 6) + 1);
    EXPECT_EQ(after[i]["step"], static_cast<int64_t>(i % 6) + 1);
  }
}

TEST_F(CliTest, ReadsItsConfigurationAndFlagsBeatIt) {
  test::write_text(path("run.json"), R"({"batch_size": 4, "lr": 0.5, "mode": "serial"})");
  const CommandResult shown = slipstream("train --config " + path("run.json") + " --lr 0.25 --print-config");
  ASSERT_EQ(shown.exit_code, 0) << shown.errors;
  const auto config = nlohmann::json::parse(shown.output);
  EXPECT_EQ(config["batch_size"], 4);
  EXPECT_EQ(config["lr"], 0.25);
  EXPECT_EQ(config["mode"], "serial");
  EXPECT_EQ(config["momentum"], 0.9);
}

TEST_F(CliTest, SaysWhatIsWrongAndExitsWithTwo) {
  const auto refuses = [](const std::string& arguments, const std::string& sentence) {
    const CommandResult refused = slipstream(arguments);
    EXPECT_EQ(refused.exit_code, 2) << arguments << "\n" << refused.output;
    EXPECT_THAT(refused.errors, HasSubstr(sentence)) << arguments;
    EXPECT_THAT(refused.errors, Not(HasSubstr("frame #"))) << arguments;
  };
  refuses("train --data /nowhere", "/nowhere/train");
  refuses("train --bacth-size 8", "--batch-size");
  refuses("train --mode parallel", "overlapped");
  refuses("train --batch-size 0", "--batch-size");
  refuses("trian", "train");
  test::write_text(path("typo.json"), R"({"batchsize": 4})");
  refuses("train --config " + path("typo.json"), "batch_size");
  refuses(train("run", "--decode cuda"), "--decode cuda");
  refuses("synth " + images(), images());
}

TEST_F(CliTest, FailsWithOneWhenAFileIsBadAndNamesIt) {
  fs::copy(images(), path("damaged"), fs::copy_options::recursive);
  fs::path bad;
  for (const auto& entry : fs::recursive_directory_iterator(path("damaged") + "/train")) {
    if (entry.is_regular_file()) bad = entry.path();
  }
  test::write_text(bad, "no image");
  const std::string options = train("bad", "--epochs 1") + " --data " + path("damaged");
  const CommandResult failed = slipstream(options);
  EXPECT_EQ(failed.exit_code, 1);
  EXPECT_THAT(failed.errors, HasSubstr(bad.string()));
  const CommandResult skipped = slipstream(options + " --bad-files skip");
  EXPECT_EQ(skipped.exit_code, 0) << skipped.errors;
  EXPECT_THAT(read_text(path("bad/bad_files.txt")), HasSubstr(bad.string()));
}

TEST_F(CliTest, LooksTheMachineOver) {
  const CommandResult found = slipstream("doctor");
  EXPECT_EQ(found.exit_code, 0) << found.errors;
  for (const char* fact : {"LibTorch", "2.11", "OpenCV", "cores", "open files", "Findings"}) {
    EXPECT_THAT(found.output, HasSubstr(fact));
  }
}

}  // namespace
}  // namespace slipstream
