// Runs `slipstream report` as a person would, over what train and sweep left.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/app/report_fixture.h"
#include "tests/support/test_support.h"

namespace slipstream {
namespace {
namespace fs = std::filesystem;

using test::CommandResult;
using test::read_text;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class ReportCliTest : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  static CommandResult slipstream(const std::string& arguments) {
    return test::run_command("OMP_NUM_THREADS=1 " + test::executable() + " " + arguments);
  }
  static void succeed(const std::string& arguments) {
    const CommandResult result = slipstream(arguments);
    ASSERT_EQ(result.exit_code, 0) << arguments << "\n" << result.errors;
  }
  /// Two runs, serial and overlapped, and a sweep of four.
  void train() const {
    succeed("synth " + path("images") + " --classes 4 --train 12 --val 5 --max-size 64");
    for (const std::string mode : {"serial", "overlapped"}) {
      succeed(fmt::format(
          "train --arch resnet18 --image-size 32 --batch-size 8 --lr 0.02 --epochs 2 --device cpu "
          "--data {} --mode {} --out {}",
          path("images"), mode, path(mode)));
    }
    test::write_text(path("sweep.json"), fmt::format(R"({{"base": {{"arch": "resnet18", "image_size": 32,
      "batch_size": 4, "limit_batches": 2, "epochs": 1, "device": "cpu", "data": "{}"}},
      "grid": {{"lr": [0.01, 0.02], "mode": ["serial", "overlapped"]}}}})",
                                                     path("images")));
    succeed(fmt::format("sweep {} --out {}", path("sweep.json"), path("sweep")));
  }

  test::TemporaryFolder folder_;
};

TEST_F(ReportCliTest, WritesAPageAndMarkdownOfRunsAndASweep) {
  ASSERT_NO_FATAL_FAILURE(train());
  const CommandResult made =
      slipstream(fmt::format("report {} {} {} --out {} --markdown {}", path("serial"), path("overlapped"),
                             path("sweep"), path("page.html"), path("page.md")));
  ASSERT_EQ(made.exit_code, 0) << made.errors;
  EXPECT_THAT(made.errors,
              AllOf(HasSubstr("Wrote " + path("page.html")), HasSubstr("Wrote " + path("page.md"))));

  const std::string page = read_text(path("page.html"));
  EXPECT_THAT(page, StartsWith("<!doctype html>"));
  for (const char* part : {"<h1>Report: serial, overlapped, sweep</h1>", "2 runs, 1 sweep, by slipstream",
                           "Where the time went", "Throughput and utilisation", "Latency",
                           "Loss and accuracy", "Sweep: sweep", "How the configurations differ",
                           "sweep: images/s", "role=\"img\"", "<td>overlapped</td>", "</html>"}) {
    EXPECT_THAT(page, HasSubstr(part));
  }
  EXPECT_THAT(page, AllOf(Not(HasSubstr("https://")), Not(HasSubstr("nan")), Not(HasSubstr("{{"))));

  const std::string text = read_text(path("page.md"));
  EXPECT_THAT(text, StartsWith("# Report: serial, overlapped, sweep\n"));
  EXPECT_THAT(text,
              HasSubstr("| run | mode |\n|---|---|\n| serial | serial |\n| overlapped | overlapped |\n"));
  EXPECT_THAT(text, HasSubstr("| lr-0.01-mode-serial | 0.01 | serial |"));
  EXPECT_THAT(text, testing::ContainsRegex("serial here|as fast as serial|less than serial"));
  // The rows of both modes' epochs have the same losses, digit by digit: the proof of the overlap.
  const auto losses = [&](const std::string& run) {
    const size_t at = text.find("| " + run + " | 2 | ");
    const std::string row = text.substr(at, text.find('\n', at) - at);
    size_t cell = 0;
    for (int bars = 0; bars < 5; ++bars) cell = row.find('|', cell + 1);
    return row.substr(cell);
  };
  EXPECT_EQ(losses("serial"), losses("overlapped"));
}

TEST_F(ReportCliTest, MarkdownAloneGoesToTheStandardOutput) {
  test::write_run(path("serial"), {});
  const CommandResult made = slipstream(fmt::format("report {} --markdown -", path("serial")));
  ASSERT_EQ(made.exit_code, 0) << made.errors;
  EXPECT_THAT(made.output, StartsWith("# Report: serial\n"));
  EXPECT_EQ(made.errors, "");
}

TEST_F(ReportCliTest, WithoutOptionsThePageIsReportHtml) {
  fs::create_directories(path("here"));
  test::write_sweep(path("sweep"), {{"lr", {0.1, 0.2}}});
  const CommandResult made = test::run_command(
      fmt::format("cd {} && {} report {}", path("here"), test::executable(), path("sweep")));
  ASSERT_EQ(made.exit_code, 0) << made.errors;
  EXPECT_EQ(made.errors, "Wrote report.html.\n");
  EXPECT_THAT(read_text(path("here/report.html")), HasSubstr("Sweep: sweep"));
}

TEST_F(ReportCliTest, SaysWhatIsWrongAndLeavesTheOldPage) {
  test::write_text(path("old.html"), "old");
  test::write_run(path("serial"), {});
  fs::create_directories(path("images"));
  const auto refuses = [](const std::string& arguments, const std::string& sentence) {
    const CommandResult refused = slipstream("report " + arguments);
    EXPECT_EQ(refused.exit_code, 2) << arguments;
    EXPECT_THAT(refused.errors, HasSubstr(sentence)) << arguments;
  };
  refuses("", "DIR");
  refuses("/nowhere --out " + path("old.html"), "/nowhere: no such folder.");
  refuses(path("images") + " --out " + path("old.html"), "holds no report.json");
  refuses(path("serial") + " --htlm x", "did you mean --");
  refuses(fmt::format("{0} --out {1} --markdown {1}", path("serial"), path("old.html")), "the same file");
  fs::copy(path("serial"), path("cut"), fs::copy_options::recursive);
  test::write_text(path("cut/report.json"), read_text(path("serial/report.json")).substr(0, 100));
  refuses(path("cut") + " --out " + path("old.html"), path("cut/report.json") + ": not valid JSON, line");
  EXPECT_EQ(read_text(path("old.html")), "old");
  const CommandResult unwritable =
      slipstream(fmt::format("report {} --out /nowhere/page.html", path("serial")));
  EXPECT_EQ(unwritable.exit_code, 1);
  EXPECT_THAT(unwritable.errors, HasSubstr("Can't write /nowhere/page.html"));
}

}  // namespace
}  // namespace slipstream
