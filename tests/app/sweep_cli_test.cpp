// Runs `slipstream sweep` as a person would, and ends it as machines do.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

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
using testing::Not;

class SweepCliTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new test::TemporaryFolder;
    const CommandResult made = test::run_command(test::executable() + " synth " + path("images") +
                                                 " --classes 4 --train 12 --val 5 --max-size 64");
    ASSERT_EQ(made.exit_code, 0) << made.errors;
  }
  static void TearDownTestSuite() { delete folder_; }

  static std::string path(const std::string& name) { return (folder_->path() / name).string(); }

  /// Writes a sweep of tiny runs; `parts` follow its base.
  static std::string sweep_file(const std::string& name, const std::string& parts,
                                const std::string& base = R"("epochs": 1)") {
    test::write_text(path(name),
                     fmt::format(R"({{"base": {{"arch": "resnet18", "image_size": 32, "batch_size": 4,
      "limit_batches": 2, "lr": 0.02, "device": "cpu", "data": "{}", {}}}, {}}})",
                                 path("images"), base, parts));
    return path(name);
  }

  /// One thread a run: a machine that is busy with other tests would make more wait for one another.
  static std::string command(const std::string& arguments) {
    return "OMP_NUM_THREADS=1 " + test::executable() + " sweep " + arguments;
  }
  static CommandResult sweep(const std::string& arguments) { return test::run_command(command(arguments)); }

  /// Sends the sweep itself a signal once `condition`, a shell's command, succeeds.
  static CommandResult sweep_until(const std::string& condition, const std::string& signal,
                                   const std::string& arguments) {
    return test::run_command(fmt::format(
        "{} & P=$!; for i in $(seq 6000); do {} 2>/dev/null && break; sleep 0.02; done; kill -{} $P; "
        "wait $P",
        command(arguments), condition, signal));
  }

  /// The results but for all that depends on the clock.
  static json results(const std::string& out) {
    json runs = json::parse(read_text(path(out + "/results.json")));
    for (json& run : runs) {
      run.erase("run_s");
      json epoch = json::object();
      for (const char* key :
           {"epoch", "mode", "images", "train_loss", "train_top1", "val_loss", "val_top1", "val_top5"}) {
        if (run["epoch"].is_object()) epoch[key] = run["epoch"].at(key);
      }
      run["epoch"] = epoch;
    }
    return runs;
  }
  static std::vector<std::string> statuses(const std::string& out) {
    std::vector<std::string> all;
    for (const json& run : results(out)) {
      all.push_back(run.at("name").get<std::string>() + ": " + run.at("status").get<std::string>());
    }
    return all;
  }

  static bool a_process_works_in(const std::string& out) {
    for (const auto& entry : fs::directory_iterator("/proc")) {
      try {
        if (read_text(entry.path() / "cmdline").find(path(out) + "/runs/") != std::string::npos) return true;
      } catch (const std::exception&) {  // no process, or just gone
      }
    }
    return false;
  }
  static bool all_processes_end(const std::string& out) {
    for (int i = 0; i < 500 && a_process_works_in(out); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return !a_process_works_in(out);
  }

  static void expect_nothing_temporary(const std::string& out) {
    int files = 0;
    for (const auto& entry : fs::recursive_directory_iterator(path(out))) {
      ++files;
      EXPECT_NE(entry.path().extension(), ".partial") << entry.path();
    }
    EXPECT_GT(files, 5);
  }

  static test::TemporaryFolder* folder_;
};
test::TemporaryFolder* SweepCliTest::folder_ = nullptr;

TEST_F(SweepCliTest, ListsTheRunsOfADryRun) {
  const std::string file =
      sweep_file("dry.json", R"("grid": {"mode": ["serial", "pinned"], "batch_size": [4, 16]},
    "runs": [{"tf32": true}], "name": "{mode}-bs{batch_size}-{tf32}")");
  const CommandResult listed = sweep(file + " --dry-run --out " + path("dry"));
  EXPECT_EQ(listed.exit_code, 0) << listed.errors;
  EXPECT_EQ(listed.output, "5 of 5 runs to do, into " + path("dry") +
                               "/runs:\n"
                               "\n"
                               "run                  batch_size        mode   tf32\n"
                               "serial-bs4-false              4      serial  false\n"
                               "serial-bs16-false            16      serial  false\n"
                               "pinned-bs4-false              4      pinned  false\n"
                               "pinned-bs16-false            16      pinned  false\n"
                               "overlapped-bs4-true           4  overlapped   true\n");
  EXPECT_FALSE(fs::exists(path("dry")));
}

TEST_F(SweepCliTest, ReadySweepRunsAndTellsItsBest) {
  const std::string file = (test::source_folder() / "configs/sweep_small_cpu.json").string();
  const std::string arguments = file + " --data " + path("images") + " --out " + path("small");
  const CommandResult run = sweep(arguments + " --sort batch_size --best");
  ASSERT_EQ(run.exit_code, 0) << run.errors;
  EXPECT_THAT(run.output, HasSubstr("4 of 4 runs to do, into " + path("small") + "/runs.\n"));
  EXPECT_THAT(run.output, HasSubstr("serial-bs8: done in "));
  EXPECT_THAT(run.output, ContainsRegex("\nrun +batch_size +mode +epoch time +images/s +top-1 +loss +status\n"
                                        "serial-bs8 +8 +serial .* done\n"
                                        "overlapped-bs8 +8 +overlapped .* done\n"
                                        "serial-bs16 +16 +serial .* done\n"
                                        "overlapped-bs16 +16 +overlapped .* done\n"));
  EXPECT_THAT(run.output, ContainsRegex("Best by top1: [a-z]+-bs[0-9]+, with [0-9.]+%"));
  EXPECT_THAT(statuses("small"), ElementsAre("serial-bs8: done", "serial-bs16: done", "overlapped-bs8: done",
                                             "overlapped-bs16: done"));
  const json all = results("small");
  EXPECT_EQ(all[0]["epoch"]["epoch"], 2);
  EXPECT_EQ(all[0]["epoch"]["images"], 32);
  EXPECT_EQ(all[0]["epoch"]["val_loss"], all[2]["epoch"]["val_loss"]);  // a mode changes nothing
  EXPECT_NE(all[0]["epoch"]["val_loss"], all[1]["epoch"]["val_loss"]);
  EXPECT_THAT(read_text(path("small/results.csv")),
              testing::StartsWith("run,batch_size,mode,epoch_s,images_per_s,top1,loss,status,error\n"
                                  "\"serial-bs8\",8,\"serial\","));
  expect_nothing_temporary("small");

  const std::string lines = read_text(path("small/results.jsonl"));
  const CommandResult again = sweep(arguments);
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_THAT(again.output, HasSubstr("0 of 4 runs to do"));
  EXPECT_EQ(read_text(path("small/results.jsonl")), lines);
}

TEST_F(SweepCliTest, KilledAnywhereItEndsAsOneLeftAlone) {
  const std::string file =
      sweep_file("killed.json", R"("grid": {"mode": ["serial", "overlapped"]}, "runs": [{"lr": 0.01}],
                 "name": "{mode}-{lr}")",
                 R"("epochs": 6)");
  const CommandResult alone = sweep(file + " --out " + path("alone"));
  ASSERT_EQ(alone.exit_code, 0) << alone.errors;
  ASSERT_THAT(statuses("alone"),
              ElementsAre("serial-0.02: done", "overlapped-0.02: done", "overlapped-0.01: done"));

  const std::string first = path("killed/runs/serial-0.02/"), second = path("killed/runs/overlapped-0.02/");
  const struct {
    std::string condition, signal;
    int exit_code;
  } kills[] = {
      {"test -e " + first + "config.json", "KILL", 137},
      {"grep -q ^2, " + first + "epochs.csv", "KILL", 137},
      {"grep -q ^3, " + first + "epochs.csv", "TERM", 143},
      {"test -e " + second + "steps.jsonl", "KILL", 137},
      {"grep -q ^2, " + second + "epochs.csv", "INT", 130},
      {"grep -q ^4, " + second + "epochs.csv", "KILL", 137},
  };
  for (const auto& kill : kills) {
    const CommandResult ended = sweep_until(kill.condition, kill.signal, file + " --out " + path("killed"));
    EXPECT_EQ(ended.exit_code, kill.exit_code) << kill.condition << "\n" << ended.output << ended.errors;
    EXPECT_TRUE(all_processes_end("killed")) << kill.condition;
    const bool may_speak = kill.signal != "KILL";
    EXPECT_EQ(ended.errors.find("Stopped; the same command goes on.") != std::string::npos, may_speak);
  }
  // As if the last kill had come in the middle of writing.
  const std::string lines = read_text(path("killed/results.jsonl"));
  test::write_text(path("killed/results.jsonl"), lines + R"({"name": "overlapped-0.02", "sta)");
  test::write_text(path("killed/results.csv.17-0.partial"), "run,mo");
  test::write_text(second + "checkpoint.pt.17-0.partial", "PK");

  const CommandResult rest = sweep(file + " --out " + path("killed"));
  EXPECT_EQ(rest.exit_code, 0) << rest.errors;
  EXPECT_THAT(rest.output, HasSubstr("2 of 3 runs to do"));
  EXPECT_EQ(results("killed"), results("alone"));
  for (const std::string run : {"serial-0.02", "overlapped-0.02", "overlapped-0.01"}) {
    const std::string steps = read_text(path("killed/runs/" + run + "/steps.jsonl"));
    EXPECT_EQ(std::count(steps.begin(), steps.end(), '\n'), 12) << run;  // none lost, none twice
  }
  expect_nothing_temporary("killed");
}

TEST_F(SweepCliTest, TwoAtATimeStopTogetherAndGoOn) {
  const std::string file =
      sweep_file("jobs.json", R"("grid": {"batch_size": [4, 8, 12]}, "name": "{n}")", R"("epochs": 4)");
  const std::string arguments = file + " --jobs 2 --out " + path("jobs");
  const std::string both =
      fmt::format("test -e {0}/1/steps.jsonl -a -e {0}/2/steps.jsonl", path("jobs/runs"));
  const CommandResult stopped = sweep_until(both, "TERM", arguments);
  EXPECT_EQ(stopped.exit_code, 143) << stopped.output << stopped.errors;
  EXPECT_TRUE(all_processes_end("jobs"));
  EXPECT_FALSE(fs::exists(path("jobs/runs/3")));
  EXPECT_TRUE(fs::exists(path("jobs/runs/1/checkpoint.pt")));
  EXPECT_TRUE(fs::exists(path("jobs/runs/2/checkpoint.pt")));

  const CommandResult rest = sweep(arguments);
  EXPECT_EQ(rest.exit_code, 0) << rest.errors;
  EXPECT_THAT(statuses("jobs"), ElementsAre("1: done", "2: done", "3: done"));
  EXPECT_THAT(read_text(path("jobs/runs/1/output.txt")), HasSubstr("Continuing"));
  ASSERT_EQ(sweep(file + " --out " + path("single")).exit_code, 0);
  EXPECT_EQ(results("jobs"), results("single"));
}

TEST_F(SweepCliTest, AFailingRunIsRecordedAndTheOthersGoOn) {
  const std::string weights = path("weights.pt");
  const std::string file = sweep_file(
      "failing.json", fmt::format(R"("runs": [{{"weights": "{}"}}, {{}}], "name": "{{n}}")", weights));
  const std::string arguments = file + " --out " + path("failing");
  const CommandResult failed = sweep(arguments);
  EXPECT_EQ(failed.exit_code, 1);
  EXPECT_THAT(failed.errors,
              HasSubstr("1 of 2 runs are not done; their output is in " + path("failing/runs")));
  EXPECT_THAT(failed.output, ContainsRegex("\n1 .* failed\n2 .* done\n\n1:\n  slipstream: .*weights.pt"));
  EXPECT_THAT(statuses("failing"), ElementsAre("1: failed", "2: done"));
  EXPECT_THAT(results("failing")[0]["error"].get<std::string>(), HasSubstr(weights));

  const CommandResult again = sweep(arguments);
  EXPECT_EQ(again.exit_code, 1);
  EXPECT_THAT(again.output, HasSubstr("0 of 2 runs to do"));

  fs::copy(path("failing/runs/2/model.pt"), weights);
  const CommandResult retried = sweep(arguments + " --retry");
  EXPECT_EQ(retried.exit_code, 0) << retried.errors;
  EXPECT_THAT(retried.output, HasSubstr("1 of 2 runs to do"));
  EXPECT_THAT(statuses("failing"), ElementsAre("1: done", "2: done"));
}

TEST_F(SweepCliTest, ACheckpointThatCannotBeReadIsNotTheRunsEnd) {
  const std::string file = sweep_file("damaged.json", R"("runs": [{}])", R"("epochs": 3)");
  const std::string arguments = file + " --out " + path("damaged");
  ASSERT_EQ(sweep_until("grep -q ^1, " + path("damaged/runs/run/epochs.csv"), "KILL", arguments).exit_code,
            137);
  test::write_text(path("damaged/runs/run/checkpoint.pt"), "no checkpoint");
  const CommandResult rest = sweep(arguments);
  EXPECT_EQ(rest.exit_code, 0) << rest.errors;
  EXPECT_THAT(rest.output, HasSubstr("It begins anew."));
  EXPECT_THAT(statuses("damaged"), ElementsAre("run: done"));
}

TEST_F(SweepCliTest, AHangingRunTimesOut) {
  const std::string pipe = path("pipe");  // that nobody writes to: opening it never ends
  ASSERT_EQ(test::run_command("mkfifo " + pipe).exit_code, 0);
  const std::string file = sweep_file("hanging.json", fmt::format(R"("runs": [{{"weights": "{}"}}])", pipe));
  const CommandResult ended = sweep(file + " --timeout 4 --grace 1 --out " + path("hung"));
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(statuses("hung"), ElementsAre("run: timed out"));
  EXPECT_EQ(results("hung")[0]["error"], "It took more than 4.000 s.");
  EXPECT_TRUE(all_processes_end("hung"));
}

TEST_F(SweepCliTest, AnotherSweepsRunsAreNotOverwritten) {
  const std::string first = sweep_file("first.json", R"("runs": [{}])");
  ASSERT_EQ(sweep(first + " --out " + path("shared")).exit_code, 0);
  const std::string other = sweep_file("other.json", R"("runs": [{"momentum": 0.5}])");
  const CommandResult refused = sweep(other + " --out " + path("shared"));
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.errors, HasSubstr(path("shared/runs/run") + ": holds another run, with momentum 0.9 "
                                                                  "instead of 0.5; name another --out"));
  EXPECT_TRUE(fs::exists(path("shared/runs/run/model.pt")));
}

TEST_F(SweepCliTest, SaysWhatIsWrongBeforeTheFirstRun) {
  const auto refuses = [](const std::string& text, const std::string& sentence,
                          const std::string& more = "") {
    test::write_text(path("wrong.json"), text);
    const CommandResult refused = sweep(path("wrong.json") + " --out " + path("wrong") + " " + more);
    EXPECT_EQ(refused.exit_code, 2) << text;
    EXPECT_EQ(refused.errors, "slipstream: " + sentence + "\n");
    EXPECT_FALSE(fs::exists(path("wrong")));
  };
  const std::string at = path("wrong.json") + ":";
  const std::string good = R"({"runs": [{"synthetic": true, "device": "cpu"}]})";
  refuses("{\n\n  \"grid\": {\n    \"mode\": [\"serial\"],\n    \"batch_sise\": [8]\n  }\n}",
          at + "5: grid.batch_sise: there is no such option; did you mean batch_size?");
  refuses("{\"runs\": [{\"device\": \"cpu\", \"workers\": 0}]}",
          at + "1: runs[0]: run 'run': --workers 0: input without threads is --mode serial");
  refuses(
      "{\"runs\": [{\"synthetic\": true, \"device\": \"cpu\"},\n{\"synthetic\": true, \"device\": \"cpu\", "
      "\"image_size\": 64, \"val_resize\": 32}]}",
      at + "2: runs[1]: run 'image_size-64-val_resize-32': --val-resize 32 is less than --image-size 64: the "
           "centre crop would not fit");
  refuses(
      good,
      "--sort must be one of run, status, epoch_s, images_per_s, top1, loss, not 'top'; did you mean 'top1'?",
      "--sort top");
  refuses(good, "--jobs must be a whole number, 1 to 256, not '0'.", "--jobs 0");
  test::write_text(path("broken.json"), "{\"runs\": [\n{]}");
  const CommandResult broken = sweep(path("broken.json"));
  EXPECT_EQ(broken.exit_code, 2);
  EXPECT_THAT(broken.errors, HasSubstr(path("broken.json") + ": not valid JSON, line 2, column 2"));
  const CommandResult missing = sweep(path("none.json"));
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_THAT(missing.errors, HasSubstr(path("none.json")));
  EXPECT_EQ(sweep("").exit_code, 2);
}

TEST_F(SweepCliTest, Helps) {
  const CommandResult help = sweep("--help");
  EXPECT_EQ(help.exit_code, 0);
  for (const char* option : {"FILE", "--data", "--out", "--jobs", "--gpus", "--timeout", "--grace", "--retry",
                             "--dry-run", "--sort", "--best"}) {
    EXPECT_THAT(help.output, HasSubstr(option));
  }
  EXPECT_THAT(help.output, Not(HasSubstr("--momentum")));
}

}  // namespace
}  // namespace slipstream
