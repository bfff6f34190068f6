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
using testing::AllOf;
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

/// Sorted, as the library keeps them.
std::vector<std::string> keys(const nlohmann::json& object) {
  std::vector<std::string> names;
  for (const auto& item : object.items()) names.push_back(item.key());
  return names;
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
  EXPECT_THAT(keys(report["epochs"][0]),
              testing::UnorderedElementsAre("epoch", "mode", "decode", "images", "wall_s", "images_per_s",
                                            "data_wait_s", "read_s", "decode_s", "resize_s", "h2d_s",
                                            "compute_s", "other_s", "hidden_share", "alone_images_per_s",
                                            "alone_share", "gpu_util", "gpu_clock_mhz", "gpu_power_w",
                                            "gpu_power_limited", "gpu_mem_bytes", "train_loss", "train_top1",
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
  refuses("train --synthetic --resize opencv --val-interpolation bicubic", "leave --resize opencv out");
  refuses("train --synthetic --resize opencv --cpu-decode fast", "leave --resize opencv out");
  test::write_text(path("typo.json"), R"({"batchsize": 4})");
  refuses("train --config " + path("typo.json"), "batch_size");
  refuses(train("run", "--decode cuda"), "--decode cuda");
  refuses("synth " + images(), images());
  refuses(train("run", "--trace --no-reports"), "--trace needs the times that --no-reports leaves out");
  refuses("bench input --data " + images() + " --trace", "--trace needs a value");
  refuses("bench input --data /nowhere", "/nowhere: no such folder");
  refuses("bench input", "--data");
  refuses("bench inptu", "did you mean input?");
  refuses("bench compute --windows 0", "--windows");
  refuses("bench compute --device cpu --profile", "--profile");
  refuses(train("run", "--profile"), "--profile");
  refuses("bench compute --data " + images(), "--data: no such option");
  refuses("bench input --data " + images() + " --bacth-size 8", "--batch-size");
  refuses("bench input --data " + images() + " --device cpu --decode cuda", "--decode cuda");
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
  const CommandResult measured = slipstream(
      "bench input --device cpu --batch-size 48 --image-size 32 --batches 1 --data " + path("damaged"));
  EXPECT_EQ(measured.exit_code, 1);
  EXPECT_THAT(measured.errors, HasSubstr(bad.string()));
  const CommandResult skipped = slipstream(options + " --bad-files skip");
  EXPECT_EQ(skipped.exit_code, 0) << skipped.errors;
  EXPECT_THAT(read_text(path("bad/bad_files.txt")), HasSubstr(bad.string()));
}

TEST_F(CliTest, MeasuresTheInputAlone) {
  const std::string bench = "bench input --image-size 32 --batch-size 8 --batches 4 --device cpu --data ";
  const CommandResult run = slipstream(bench + images() + " --json -");
  ASSERT_EQ(run.exit_code, 0) << run.errors;
  const auto report = nlohmann::json::parse(run.output);
  EXPECT_EQ(keys(report), (std::vector<std::string>{"batch_size", "folder", "image_size", "rows"}));
  EXPECT_EQ(report["folder"], images() + "/train");
  EXPECT_EQ(report["batch_size"], 8);
  EXPECT_EQ(report["image_size"], 32);
  ASSERT_EQ(report["rows"].size(), 1U);
  const auto& row = report["rows"][0];
  EXPECT_EQ(keys(row), (std::vector<std::string>{"cores", "cpu_s_per_1000_images", "decode", "decode_s",
                                                 "h2d_s", "images", "images_per_s", "jpeg_util", "latency_ms",
                                                 "mode", "read_s", "resize_s"}));
  EXPECT_EQ(row["mode"], "overlapped");
  EXPECT_EQ(row["decode"], "cpu");
  EXPECT_EQ(row["images"], 32);
  EXPECT_TRUE(row["jpeg_util"].is_null());
  for (const char* key : {"images_per_s", "read_s", "decode_s", "resize_s"}) EXPECT_GT(row[key], 0) << key;
  const auto& latency = row["latency_ms"];
  ASSERT_EQ(keys(latency), (std::vector<std::string>{"p50", "p95", "p99"}));
  EXPECT_GT(latency["p50"], 0);
  EXPECT_LE(latency["p50"], latency["p95"]);
  EXPECT_LE(latency["p95"], latency["p99"]);
}

TEST_F(CliTest, TracesWhatThreadsAndStreamsDo) {
  const auto names = [](const nlohmann::json& trace, const std::string& kind) {
    std::vector<std::string> all;
    for (const auto& event : trace["traceEvents"]) {
      if (event["name"] == kind) all.push_back(event["args"]["name"]);
    }
    return all;
  };
  const CommandResult run = slipstream(train("traced", "--trace --trace-steps 4 --workers 2"));
  ASSERT_EQ(run.exit_code, 0) << run.errors;
  const auto trace = nlohmann::json::parse(read_text(path("traced/trace.json")));
  EXPECT_THAT(names(trace, "process_name"), testing::ElementsAre("slipstream: overlapped, CPU decode"));
  EXPECT_THAT(names(trace, "thread_name"),
              testing::IsSupersetOf({"training thread", "stager", "compute stream"}));
  int steps = 0;
  for (const auto& event : trace["traceEvents"]) steps += event["name"] == "step" ? 1 : 0;
  EXPECT_EQ(steps, 4);
  EXPECT_THAT(read_text(path("traced/utilisation.csv")), testing::StartsWith("time_s,busy\n0.000,"));

  const CommandResult bench =
      slipstream("bench input --image-size 32 --batch-size 8 --batches 2 --device cpu --mode all --data " +
                 images() + " --trace " + path("input.json"));
  ASSERT_EQ(bench.exit_code, 0) << bench.errors;
  EXPECT_THAT(names(nlohmann::json::parse(read_text(path("input.json"))), "process_name"),
              testing::ElementsAre("slipstream: serial, CPU decode", "slipstream: pinned, CPU decode",
                                   "slipstream: overlapped, CPU decode"));
}

TEST_F(CliTest, MeasuresTheInputInEveryModeAndPrintsATable) {
  const CommandResult run = slipstream(
      "bench input --image-size 32 --batch-size 8 --batches 2 --device cpu --mode all --decode all "
      "--data " +
      images() + "/train --json " + path("rates.json"));
  ASSERT_EQ(run.exit_code, 0) << run.errors;
  EXPECT_THAT(run.output, testing::ContainsRegex("mode +serial +pinned +overlapped\n"));
  EXPECT_THAT(run.output, testing::ContainsRegex("images +16 +16 +16\n"));
  const auto rows = nlohmann::json::parse(read_text(path("rates.json")))["rows"];
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0]["mode"], "serial");
  EXPECT_EQ(rows[2]["mode"], "overlapped");
}

TEST_F(CliTest, MeasuresTheStepAlone) {
  const std::string bench =
      "bench compute --device cpu --arch resnet18 --image-size 32 --batch-size 8 --steps 3 --windows 2 ";
  const CommandResult run = slipstream(bench + "--json -");
  ASSERT_EQ(run.exit_code, 0) << run.errors;
  const auto report = nlohmann::json::parse(run.output);
  EXPECT_EQ(report["arch"], "resnet18");
  EXPECT_EQ(report["batch_size"], 8);
  EXPECT_EQ(report["image_size"], 32);
  EXPECT_EQ(report["device"], "cpu");
  EXPECT_EQ(report["steps"], 3);
  ASSERT_EQ(report["windows_ms"].size(), 2U);
  EXPECT_EQ(report["step_ms"], std::min(report["windows_ms"][0], report["windows_ms"][1]));
  EXPECT_NEAR(report["images_per_s"].get<double>() * report["step_ms"].get<double>(), 8000, 1e-6);
  for (const char* part : {"forward", "backward", "optimizer"})
    EXPECT_GT(report["parts_ms"][part], 0) << part;
  for (const char* key : {"traced", "peak_bytes", "reserved_bytes", "copy_bytes_per_s"})
    EXPECT_TRUE(report[key].is_null()) << key;

  const CommandResult table = slipstream(bench + "--json " + path("compute.json"));
  ASSERT_EQ(table.exit_code, 0) << table.errors;
  EXPECT_THAT(table.output, HasSubstr("Median of 2 windows of 3 steps"));
  EXPECT_THAT(table.output, HasSubstr("Kernels are timed on a GPU"));
  EXPECT_THAT(table.output, Not(HasSubstr("--cuda-graph")));
  EXPECT_EQ(nlohmann::json::parse(read_text(path("compute.json")))["steps"], 3);
}

TEST_F(CliTest, SaysWhyThereIsNoGraphOnTheCpu) {
  const std::string sentence =
      "--cuda-graph: there is no graph to record on the CPU; steps run as without it.";
  const CommandResult trained = slipstream(train("graph", "--epochs 1 --cuda-graph"));
  EXPECT_EQ(trained.exit_code, 0) << trained.errors;
  EXPECT_THAT(trained.output, AllOf(HasSubstr(sentence), HasSubstr("epoch 1: ")));
  const CommandResult measured = slipstream(
      "bench compute --device cpu --arch resnet18 --image-size 32 --batch-size 8 --steps 1 --windows 1 "
      "--cuda-graph");
  EXPECT_EQ(measured.exit_code, 0) << measured.errors;
  EXPECT_THAT(measured.output, AllOf(HasSubstr(sentence), HasSubstr("images/s")));
}

TEST_F(CliTest, HelpsWithTheBenchmarks) {
  const CommandResult parts = slipstream("bench");
  EXPECT_EQ(parts.exit_code, 0);
  EXPECT_THAT(parts.output, AllOf(HasSubstr("slipstream bench"), HasSubstr("input"), HasSubstr("compute")));
  const CommandResult help = slipstream("bench input --help");
  EXPECT_EQ(help.exit_code, 0);
  for (const char* option : {"--data", "--batches", "--json", "--mode", "--decode", "--workers"}) {
    EXPECT_THAT(help.output, HasSubstr(option));
  }
  EXPECT_THAT(help.output, Not(HasSubstr("--momentum")));
}

TEST_F(CliTest, RefusesAPlaceForFiguresBeforeItMeasures) {
  for (const char* command :
       {"bench compute", "bench input --data .", "evaluate --weights none.pt --data ."}) {
    const CommandResult refused = slipstream(fmt::format("{} --json {}", command, path("none/figures.json")));
    EXPECT_EQ(refused.exit_code, 2) << command;
    EXPECT_THAT(refused.errors, HasSubstr(fmt::format("there is no folder {}.", path("none")))) << command;
  }
}

TEST_F(CliTest, LooksTheMachineOver) {
  const CommandResult found = slipstream("doctor");
  EXPECT_EQ(found.exit_code, 0) << found.errors;
  for (const char* fact : {"LibTorch", "2.11", "OpenCV", "cores", "open files", "Findings"}) {
    EXPECT_THAT(found.output, HasSubstr(fact));
  }
}

TEST_F(CliTest, EvaluatesWeightsAsTheTrainingThatMadeThemDid) {
  ASSERT_EQ(slipstream(train("evaluated")).exit_code, 0);
  const auto epochs = nlohmann::json::parse(read_text(path("evaluated/report.json"))).at("epochs");
  const std::string command = fmt::format(
      "evaluate --data {} --weights {}/model.pt --arch resnet18 --image-size 32 --batch-size 7 --device cpu",
      images(), path("evaluated"));
  const CommandResult alone = slipstream(command + " --json -");
  ASSERT_EQ(alone.exit_code, 0) << alone.errors;
  const auto figures = nlohmann::json::parse(alone.output);
  EXPECT_EQ(figures.at("images"), 20);
  EXPECT_EQ(figures.at("folder"), images() + "/val");
  EXPECT_EQ(figures.at("top1"), epochs.back().at("val_top1"));
  EXPECT_EQ(figures.at("top5"), 1);  // of four classes
  EXPECT_NEAR(figures.at("loss").get<double>(), epochs.back().at("val_loss").get<double>(), 1e-5);
  EXPECT_TRUE(figures.at("bad_files").empty());
  EXPECT_THAT(slipstream(command).output, HasSubstr("/val: 20 images, top1 "));

  const CommandResult without = slipstream("evaluate --data " + images());
  EXPECT_EQ(without.exit_code, 2);
  EXPECT_THAT(without.errors, HasSubstr("--weights is missing"));
  const CommandResult other = slipstream(command + " --arch resnet34");
  EXPECT_EQ(other.exit_code, 1);
  EXPECT_THAT(other.errors, HasSubstr("evaluated/model.pt: The weights don't fit the model"));
}

}  // namespace
}  // namespace slipstream
