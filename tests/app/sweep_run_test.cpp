// One run of a sweep and the process behind it; a shell script stands for `slipstream train`.
#include "app/sweep_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

#include "app/json_file.h"
#include "tests/app/refusal.h"
#include "tests/support/test_support.h"

namespace slipstream {
namespace {
namespace fs = std::filesystem;
using testing::EndsWith;
using testing::HasSubstr;

/// Looks until `condition` holds, half a minute at most.
template <typename Condition>
bool comes_true(Condition condition) {
  for (int i = 0; i < 3000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

class SweepRunTest : public testing::Test {
 protected:
  /// Makes the executable of runs; its arguments are those of train.
  void script(const std::string& body) {
    settings_.executable = path("train.sh");
    test::write_text(settings_.executable, "#!/bin/sh\n" + body + "\n");
    fs::permissions(settings_.executable, fs::perms::owner_all);
  }
  SweepRun start(bool anew = false, const std::string& gpu = {}) {
    return SweepRun(run_, folder_, anew, gpu, settings_, /*now=*/0);
  }
  /// As time stands still but for the process.
  static bool ends(SweepRun& run, double now = 0) {
    return comes_true([&] { return run.has_ended(now); });
  }
  SweepResult result_of(const std::string& body) {
    script(body);
    SweepRun run = start();
    EXPECT_TRUE(ends(run, 2.5));
    return run.result().value();
  }
  std::string path(const std::string& name) const { return (temporary_.path() / name).string(); }
  std::string run_path(const std::string& name) const { return path("sweep/runs/a/" + name); }
  bool has(const std::string& name) const { return fs::exists(run_path(name)); }

  test::TemporaryFolder temporary_;
  SweepFolder folder_{path("sweep")};
  PlannedRun run_{.name = "a", .place = "s.json:1: runs[0]", .config = {{"lr", 0.5}, {"epochs", 2}}};
  RunSettings settings_;
};

TEST_F(SweepRunTest, GivesTheProcessItsOptionsAndItsGpu) {
  settings_.threads = 3;
  script("echo \"$@\"; echo $CUDA_VISIBLE_DEVICES $OMP_NUM_THREADS; cat; echo careful >&2");
  SweepRun run = start(/*anew=*/false, "GPU-2");
  ASSERT_TRUE(ends(run, 2.5));
  EXPECT_EQ(test::read_text(run_path("output.txt")),
            "train --config " + run_path("config.json") + "\nGPU-2 3\n");
  EXPECT_EQ(test::read_text(run_path("errors.txt")), "careful\n");
  EXPECT_EQ(read_json_object(run_path("config.json")),
            Json({{"lr", 0.5}, {"epochs", 2}, {"out", path("sweep/runs/a")}}));
  const SweepResult result = run.result().value();
  EXPECT_EQ(result.status, RunStatus::kDone);
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.run_s, 2.5);
  EXPECT_TRUE(result.epoch.is_null());
}

TEST_F(SweepRunTest, TakesTheLastEpochOfTheReport) {
  const SweepResult result = result_of(
      "D=$(dirname $3); echo '{\"epochs\": [{\"epoch\": 1}, {\"epoch\": 2, \"val_top1\": 0.5}]}' > "
      "$D/report.json");
  EXPECT_EQ(result.epoch, Json({{"epoch", 2}, {"val_top1", 0.5}}));
}

TEST_F(SweepRunTest, AFailedRunHasItsLastWords) {
  SweepResult result = result_of("echo early >&2; echo 'slipstream: It broke.' >&2; exit 1");
  EXPECT_EQ(result.status, RunStatus::kFailed);
  EXPECT_EQ(result.error, "early\nslipstream: It broke.");
  result = result_of("for i in $(seq 2000); do echo line $i >&2; done; exit 2");
  EXPECT_LE(result.error.size(), 1000U);
  EXPECT_THAT(result.error, testing::StartsWith("line 1"));
  EXPECT_THAT(result.error, EndsWith("\nline 1999\nline 2000"));
  EXPECT_EQ(result_of("exit 3").error, "Ended with exit code 3.");
  result = result_of("echo words >&2; kill -ABRT $$");
  EXPECT_EQ(result.status, RunStatus::kFailed);
  EXPECT_EQ(result.error, "words\nEnded by signal 6 (Aborted).");
}

TEST_F(SweepRunTest, SigkillFromElsewhereIsWantOfMemory) {
  for (const char* end : {"kill -KILL $$", "exit 137"}) {
    const SweepResult result = result_of(end);
    EXPECT_EQ(status_name(result.status), "out of memory") << end;
    EXPECT_EQ(result.error, "It got SIGKILL: as a rule, because memory was full.");
  }
}

TEST_F(SweepRunTest, ARunThatTakesTooLongIsAskedToStop) {
  settings_.timeout_s = 60;
  settings_.grace_s = 10;
  script("trap 'exit 143' TERM; echo ready; while :; do sleep 0.01; done");
  SweepRun run = start();
  ASSERT_TRUE(comes_true([&] { return test::read_text(run_path("output.txt")) == "ready\n"; }));
  EXPECT_FALSE(run.has_ended(59.9));
  EXPECT_TRUE(ends(run, 60));
  EXPECT_EQ(run.result()->status, RunStatus::kTimedOut);
  EXPECT_EQ(run.result()->error, "It took more than 60.0 s.");
}

TEST_F(SweepRunTest, ARunThatDoesNotStopWhenAskedIsKilledAfterTheGrace) {
  settings_.timeout_s = 60;
  settings_.grace_s = 10;
  script("trap '' TERM; echo ready; while :; do sleep 0.01; done");
  SweepRun run = start();
  ASSERT_TRUE(comes_true([&] { return test::read_text(run_path("output.txt")) == "ready\n"; }));
  EXPECT_FALSE(run.has_ended(60));
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_FALSE(run.has_ended(69.9));
  EXPECT_TRUE(ends(run, 70));
  EXPECT_EQ(run.result()->status, RunStatus::kTimedOut);
}

TEST_F(SweepRunTest, AStoppedRunHasNoResultUnlessItWasThrough) {
  script("trap 'exit 143' TERM; echo ready; while :; do sleep 0.01; done");
  settings_.grace_s = 1000;
  SweepRun run = start();
  ASSERT_TRUE(comes_true([&] { return test::read_text(run_path("output.txt")) == "ready\n"; }));
  run.stop(1);
  ASSERT_TRUE(ends(run, 1));
  EXPECT_FALSE(run.result().has_value());

  script("trap 'exit 0' TERM; echo ready; while :; do sleep 0.01; done");
  SweepRun through = start();
  ASSERT_TRUE(comes_true([&] { return test::read_text(run_path("output.txt")) == "ready\n"; }));
  through.stop(1);
  ASSERT_TRUE(ends(through, 1));
  EXPECT_EQ(through.result().value().status, RunStatus::kDone);
}

TEST_F(SweepRunTest, GoesOnFromACheckpointUnlessItIsToBeginAnew) {
  script("echo \"$@\"");
  fs::create_directories(run_path(""));
  for (const char* name : {"checkpoint.pt", "report.json.17-0.partial", "steps.jsonl"}) {
    test::write_text(run_path(name), "x");
  }
  SweepRun resumed = start();
  EXPECT_TRUE(resumed.was_resumed());
  ASSERT_TRUE(ends(resumed));
  EXPECT_THAT(test::read_text(run_path("output.txt")), EndsWith(" --resume\n"));
  EXPECT_TRUE(has("checkpoint.pt") && has("steps.jsonl"));
  EXPECT_FALSE(has("report.json.17-0.partial"));

  SweepRun afresh = start(/*anew=*/true);
  EXPECT_FALSE(afresh.was_resumed());
  ASSERT_TRUE(ends(afresh));
  EXPECT_THAT(test::read_text(run_path("output.txt")), Not(HasSubstr("--resume")));
  EXPECT_FALSE(has("checkpoint.pt") || has("steps.jsonl"));
  EXPECT_TRUE(has("config.json"));
}

TEST_F(SweepRunTest, WithoutACheckpointTheFolderIsCleaned) {
  script("exit 0");
  test::write_text(run_path("steps.jsonl"), "x");
  test::write_text(run_path("deeper/file"), "x");
  SweepRun run = start();
  EXPECT_FALSE(run.was_resumed());
  EXPECT_TRUE(ends(run));
  EXPECT_FALSE(has("steps.jsonl") || has("deeper"));
}

TEST_F(SweepRunTest, CountsEpochs) {
  script("D=$(dirname $3); printf 'epoch,mode\\n1,serial\\n' > $D/epochs.csv");
  SweepRun run = start();
  ASSERT_TRUE(ends(run));
  EXPECT_EQ(run.epochs_done(), 1);
  EXPECT_EQ(run.share_done(), 0.5);
}

TEST_F(SweepRunTest, AnotherRunsFolderIsLeftAlone) {
  script("exit 0");
  SweepRun run = start();
  ASSERT_TRUE(ends(run));
  SweepPlan plan;
  plan.runs = {run_};
  EXPECT_EQ(test::refusal([&] { folder_.require_free(plan); }), "nothing was refused");
  plan.runs[0].config["lr"] = 1.0;
  EXPECT_EQ(test::refusal([&] { folder_.require_free(plan); }),
            path("sweep/runs/a") +
                ": holds another run, with lr 0.5 instead of 1; name another --out, or have the "
                "names tell them apart.");
  fs::remove(run_path("config.json"));
  EXPECT_EQ(test::refusal([&] { folder_.require_free(plan); }),
            path("sweep/runs/a") + ": holds files that are no run's; name another --out.");
}

TEST_F(SweepRunTest, ASweepsFolderIsItsOwnUntilTheLastOfItsRunsHasEnded) {
  UniqueFd lock = folder_.lock();
  const auto refusal = [&] { return test::refusal([&] { folder_.lock(/*patience_s=*/0.1); }); };
  const std::string sentence =
      path("sweep") + ": another sweep works there; wait for its end, or name another --out.";
  EXPECT_EQ(refusal(), sentence);

  script("trap '' TERM; echo ready; while :; do sleep 0.01; done");
  settings_.lock = lock.get();
  {
    SweepRun run = start();
    ASSERT_TRUE(comes_true([&] { return test::read_text(run_path("output.txt")) == "ready\n"; }));
    lock.close();
    EXPECT_EQ(refusal(), sentence);
  }
  EXPECT_TRUE(folder_.lock().valid());
}

TEST_F(SweepRunTest, TheExecutableMustBeThere) {
  settings_.executable = path("none");
  EXPECT_EQ(test::refusal([&] { start(); }), "Can't start " + path("none") + ": No such file or directory.");
}

/// Whether a process runs; one that ended and waits for its parent doesn't.
bool runs(pid_t pid) {
  const fs::path stat = "/proc/" + std::to_string(pid) + "/stat";
  if (!fs::exists(stat)) return false;
  const std::string text = test::read_text(stat);
  return text.substr(text.rfind(')') + 2, 1) != "Z";
}

TEST_F(SweepRunTest, AProcessDiesWithItsOwner) {
  const ChildCommand command = {
      .arguments = {"/bin/sh", "-c", "echo $$; trap '' TERM; while :; do sleep 0.01; done"},
      .output = path("out"),
      .errors = path("err")};
  const auto written_pid = [&] {
    EXPECT_TRUE(
        comes_true([&] { return fs::exists(path("out")) && test::read_text(path("out")).ends_with("\n"); }));
    return static_cast<pid_t>(std::stoi(test::read_text(path("out"))));
  };
  pid_t child = 0;
  {
    const ChildProcess process(command);
    child = written_pid();
    EXPECT_TRUE(runs(child));
  }
  EXPECT_FALSE(runs(child));

  fs::remove(path("out"));
  const pid_t parent = fork();
  if (parent == 0) {
    const ChildProcess process(command);
    ::pause();
    ::_exit(0);
  }
  child = written_pid();
  EXPECT_TRUE(runs(child));
  kill(parent, SIGKILL);
  waitpid(parent, nullptr, 0);
  EXPECT_TRUE(comes_true([&] { return !runs(child); }));
}

}  // namespace
}  // namespace slipstream
