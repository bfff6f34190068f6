// What a report says of runs, sweeps and compares.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "app/json_file.h"
#include "app/report/html_page.h"
#include "app/report/markdown_page.h"
#include "app/report/over_time.h"
#include "app/report/sections.h"
#include "app/report/sweep_grid.h"
#include "app/report/sweep_pictures.h"
#include "app/report/time_bars.h"
#include "tests/app/report_fixture.h"
#include "tests/support/test_support.h"

namespace slipstream {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

class ReportSectionsTest : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  ReportInput read(const std::vector<std::string>& names) const {
    std::vector<std::string> folders;
    for (const std::string& name : names) folders.push_back(path(name));
    return read_report_input(folders);
  }
  std::string markdown(const std::vector<std::string>& names) const {
    return markdown_page(make_report(read(names)));
  }
  std::vector<std::string> sentences(const std::vector<std::string>& names) const {
    const ReportInput input = read(names);
    std::vector<TimedRun> timed;
    for (const ReportRun& run : input.runs) timed.push_back({.run = &run, .range = {}});
    return overlap_sentences(timed);
  }

  test::TemporaryFolder folder_;
};

TEST_F(ReportSectionsTest, OverlapThatPaysIsPutInNumbers) {
  test::write_run(path("serial"), {.compute_s = 0.05, .wait_s = 0.05});
  test::write_run(path("overlapped"), {.mode = "overlapped", .compute_s = 0.05, .wait_s = 0.0005});
  EXPECT_THAT(
      sentences({"serial", "overlapped"}),
      ElementsAre("overlapped is 1.96x as fast as serial: 1.030 s against 2.020 s an epoch; the step waits "
                  "for data 1.0% of the time instead of 49.5%."));
}

TEST_F(ReportSectionsTest, OverlapThatDoesNotPayIsSaidWithItsReason) {
  test::write_run(path("serial"), {.compute_s = 0.05, .wait_s = 0.001});
  test::write_run(path("overlapped"), {.mode = "overlapped", .compute_s = 0.05, .wait_s = 0.0001});
  EXPECT_THAT(
      sentences({"serial", "overlapped"}),
      ElementsAre("overlapped is no faster than serial here (1.02x: 1.022 s against 1.040 s an epoch): input "
                  "takes only 1.9% of the serial epoch, so there is little to hide."));
  test::write_run(path("serial"), {.compute_s = 0.05, .wait_s = 0.05});
  test::write_run(path("overlapped"), {.mode = "overlapped", .compute_s = 0.1, .wait_s = 0.002});
  EXPECT_THAT(sentences({"serial", "overlapped"}),
              ElementsAre(AllOf(
                  HasSubstr("is no faster than serial here (0.98x"),
                  HasSubstr("the wait for data fell from 1.000 s to 40.0 ms, but compute grew from 1.000 "
                            "s to 2.000 s: both want the same processor."))));
  test::write_run(path("overlapped"), {.mode = "overlapped", .compute_s = 0.05, .wait_s = 0.06});
  EXPECT_THAT(sentences({"serial", "overlapped"}),
              ElementsAre(AllOf(HasSubstr("overlapped is slower than serial"),
                                HasSubstr("the step still waits 54."))));
}

TEST_F(ReportSectionsTest, ASpeedUpThatIsNotOverlapsIsNotCreditedToIt) {
  test::write_run(path("serial"), {.compute_s = 0.1, .wait_s = 0.01});
  test::write_run(path("overlapped"), {.mode = "overlapped", .compute_s = 0.05, .wait_s = 0.001});
  EXPECT_THAT(sentences({"serial", "overlapped"}),
              ElementsAre(HasSubstr(
                  "but only 180 ms of that is input that it hid: compute itself took 1.000 s instead "
                  "of 2.000 s, so more than the mode was different.")));
}

TEST_F(ReportSectionsTest, RunsOfOtherDecodersOrOptionsAreNotSetAgainstEachOther) {
  test::write_run(path("serial"), {});
  test::write_run(path("cuda"), {.mode = "overlapped", .decode = "cuda", .wait_s = 0.001});
  EXPECT_THAT(sentences({"serial", "cuda"}), SizeIs(0));
}

TEST_F(ReportSectionsTest, ARunsTablesHaveItsNumbers) {
  test::write_run(path("a"), {.compute_s = 0.05, .wait_s = 0.03});
  test::write_run(path("b"), {.mode = "overlapped", .compute_s = 0.05, .wait_s = 0.002});
  const std::string text = markdown({"a", "b"});
  // epoch = 20 * 0.05 + 20 * 0.03 + 0.02
  EXPECT_THAT(text, HasSubstr("| a | 1.620 s | 1.000 s | 600 ms | 20.0 ms | 37.0% | 40.0% | 61.7% | - |\n"));
  EXPECT_THAT(text, HasSubstr("| a | 100 ms | 600 ms | 200 ms | 100 ms |\n"));  // the stages
  EXPECT_THAT(text, HasSubstr("| a | step | 80.0 ms | 80.0 ms | 80.0 ms | 80.0 ms | 39 |\n"));
  EXPECT_THAT(text, HasSubstr("| b | wait for the batch | 2.000 ms |"));
  EXPECT_THAT(text, HasSubstr("| a | 2 | 1.620 s | 98.8 | 1.000 | 25.0% | 1.250 | 50.0% | 90.0% |\n"));
  EXPECT_THAT(text, HasSubstr("| run | mode |\n|---|---|\n| a | serial |\n| b | overlapped |\n"));
  EXPECT_THAT(text, HasSubstr("Input-bound: compute waits for data; try --workers 4."));
  EXPECT_THAT(text, Not(HasSubstr("Timeline")));
  EXPECT_THAT(text, Not(HasSubstr("nan")));
}

TEST_F(ReportSectionsTest, ARunWithoutTimesOrEpochsStillHasAReport) {
  test::write_run(path("bare"), {.steps_file = false});
  const std::string text = markdown({"bare"});
  EXPECT_THAT(text, HasSubstr("| bare | 2.020 s |"));
  EXPECT_THAT(text, Not(HasSubstr("Images/s over time")));
  EXPECT_THAT(text, Not(HasSubstr("Latency")));
  test::write_run(path("begun"), {.epochs = 0});
  EXPECT_THAT(markdown({"begun"}), HasSubstr("| begun | No epoch has ended yet. |"));
}

TEST_F(ReportSectionsTest, ACompareHasItsSentenceAndTableOnTop) {
  test::write_compare(path("cmp"), "overlapped is <i>1.9x</i> serial");
  const std::string text = markdown({"cmp"});
  const size_t sentence = text.find("> overlapped is &lt;i>1.9x&lt;/i> serial\n");
  ASSERT_NE(sentence, std::string::npos);
  EXPECT_LT(sentence, text.find("|"));
  EXPECT_THAT(
      text,
      HasSubstr("The losses of all rows with the same batches agree to the last digit. On NVIDIA H200"));
  EXPECT_THAT(
      text,
      HasSubstr("| serial, CPU decode | 2.020 s (2.020 to 2.222) | 79.2 (79.2 to 87.1) | 1.00x | 49.5% | "
                "50.0% | 49.5% | 25.0% | 75.0% | yes |\n"));
  EXPECT_THAT(text, HasSubstr("| synthetic | 1.020 s (1.020 to 1.122) |"));
  EXPECT_THAT(text, HasSubstr("### cmp: epoch time (s) by part"));
  EXPECT_THAT(text, Not(HasSubstr("### Epoch time by part")));  // it stands with the compare already
  EXPECT_THAT(text, HasSubstr("## Timeline"));
  // The first step is left out; each track's share of the six others.
  EXPECT_THAT(text, HasSubstr("| compute stream | 6 | 300 ms | 50.0% |\n"));
  EXPECT_THAT(text, HasSubstr("| worker 1 | 18 | 225 ms | 37.5% |\n"));
}

TEST_F(ReportSectionsTest, ManyWorkersDontHideTheStreamTheyFeed) {
  test::write_run(path("run"), {.trace = true});
  Json trace = read_json_object(path("run/trace.json"));
  for (int worker = 2; worker <= 30; ++worker) {
    const int thread = 100 + worker;
    trace["traceEvents"].push_back(Json::object({{"ph", "M"},
                                                 {"name", "thread_name"},
                                                 {"pid", 1},
                                                 {"tid", thread},
                                                 {"args", {{"name", fmt::format("worker {}", worker)}}}}));
    trace["traceEvents"].push_back(
        Json::object({{"ph", "X"}, {"name", "read"}, {"pid", 1}, {"tid", thread}, {"ts", 0}, {"dur", 4e6}}));
  }
  test::write_text(path("run/trace.json"), trace.dump());
  const std::string page = html_page(make_report(read({"run"})));
  const std::string drawing = page.substr(page.find("run: first steps"));
  EXPECT_THAT(drawing, HasSubstr(">compute stream</text>"));
  EXPECT_THAT(drawing, HasSubstr(">worker 15</text>"));
  EXPECT_THAT(drawing, Not(HasSubstr(">worker 16</text>")));
  EXPECT_THAT(drawing, HasSubstr("15 more tracks are in the table alone."));
}

TEST_F(ReportSectionsTest, LossesThatDisagreeAreNotPassedOver) {
  test::write_compare(path("cmp"));
  Json compare = test::compare_json("a sentence");
  compare["losses_agree"] = false;
  compare["rows"][1]["losses_agree"] = false;
  test::write_text(path("cmp/compare.json"), compare.dump());
  const std::string text = markdown({"cmp"});
  EXPECT_THAT(text, HasSubstr("The losses do NOT agree"));
  EXPECT_THAT(text, HasSubstr("| NO |\n"));
}

TEST_F(ReportSectionsTest, GridsOfTwoOptionsBecomeHeatMaps) {
  test::write_sweep(path("grid"), {{"lr", {0.2, 0.1, 0.4}}, {"workers", {2, 4}}});
  const ReportInput input = read({"grid"});
  const auto options = grid_options(input.sweeps[0]);
  ASSERT_THAT(options, SizeIs(2));
  EXPECT_EQ(options[1].key, "lr");
  EXPECT_THAT(options[1].values, ElementsAre(Json(0.1), Json(0.2), Json(0.4)));
  EXPECT_THAT(heat_pictures(input.sweeps[0]), SizeIs(4));
  const std::string text = markdown({"grid"});
  EXPECT_THAT(text,
              HasSubstr("### grid: top-1\n\nA grid of top-1 by lr and workers.\n\nThe stronger, the more; "
                        "more is better. Best is 50.0% at workers 2 and lr 0.4."));
  EXPECT_THAT(
      text,
      HasSubstr("| lr (down), workers (across) | 2 | 4 |\n|---|---:|---:|\n| 0.1 | 30.0% | 40.0% |\n| 0.2 "
                "| 10.0% | 20.0% |\n| 0.4 | 50.0% | - |\n"));
  EXPECT_THAT(text, HasSubstr("| run-6 | 4 | 0.4 | - | - | - | - | failed |\n"));
  EXPECT_THAT(text, HasSubstr("run-6: It ended with &lt;1>."));
}

TEST_F(ReportSectionsTest, RepetitionsAreAveragedInAHeatMap) {
  test::write_sweep(path("grid"), {{"lr", {0.1, 0.2}}, {"workers", {2, 4}}, {"seed", {1, 2}}});
  const ReportInput input = read({"grid"});
  EXPECT_THAT(grid_options(input.sweeps[0]), SizeIs(2));
  const auto mean = mean_figure(input.sweeps[0], *find_figure("top1"), {"lr", 0.1}, {"workers", 4});
  EXPECT_NEAR(mean.value(), (0.3 + 0.4) / 2, 1e-9);
  const auto rest = mean_figure(input.sweeps[0], *find_figure("top1"), {"lr", 0.2}, {"workers", 4});
  EXPECT_NEAR(rest.value(), 0.7, 1e-9);  // the other repetition failed
}

TEST_F(ReportSectionsTest, LargerGridsBecomeParallelCoordinatesAndOneOptionBars) {
  test::write_sweep(path("large"),
                    {{"lr", {0.1, 0.2}}, {"workers", {2, 4}}, {"arch", {"resnet18", "resnet50"}}});
  EXPECT_THAT(markdown({"large"}),
              HasSubstr("A line for each of 8 runs through its options and its figures. The most "
                        "accurate is run-7."));
  test::write_sweep(path("one"), {{"workers", {1, 2, 4}}});
  EXPECT_THAT(markdown({"one"}), HasSubstr("Bars of images per second. workers 1: 79.2. workers 2: "));
  const ReportInput input = read({"large"});
  EXPECT_EQ(best_result(input.sweeps[0]), 6);  // the last one failed
}

TEST(OverTime, ImagesAndBusyTimeAreSpreadOverTheirIntervals) {
  StepRecord step{.images = 10};
  step.times.compute_s = 1;
  step.times.data_wait_s = 1;
  const std::vector<StepRecord> steps = {step, step};
  const std::vector<Point> rate = rates(image_intervals(steps), 4, 2);
  ASSERT_THAT(rate, SizeIs(2));
  EXPECT_DOUBLE_EQ(rate[0].x, 1);
  EXPECT_DOUBLE_EQ(rate[0].y, 5);
  EXPECT_DOUBLE_EQ(rate[1].y, 5);
  const std::vector<Point> busy = rates(busy_intervals(steps), 4, 4);
  ASSERT_THAT(busy, SizeIs(4));
  EXPECT_DOUBLE_EQ(busy[0].y, 0);  // waiting
  EXPECT_DOUBLE_EQ(busy[1].y, 1);
  EXPECT_DOUBLE_EQ(busy[2].y, 0);
  EXPECT_DOUBLE_EQ(busy[3].y, 1);
}

TEST(OverTime, RowsFollowEachOtherWhateverPassedBetweenEpochs) {
  const std::vector<Point> points = points_of({{0, 1}, {0.5, 0}, {1, 0.5}, {30, 1}, {30.5, 1}});
  ASSERT_THAT(points, SizeIs(5));
  EXPECT_DOUBLE_EQ(points[2].x, 1.25);
  EXPECT_DOUBLE_EQ(points[3].x, 1.75);
  EXPECT_DOUBLE_EQ(points[4].x, 2.25);
  EXPECT_DOUBLE_EQ(points[2].y, 0.5);
}

TEST(OverTime, ThinnedLinesKeepTheirRange) {
  Series line{.name = "a", .style = "s1"};
  for (int at = 0; at < 100; ++at) line.points.push_back({static_cast<double>(at), at % 2 == 0 ? 0. : 1.});
  const Series thin = thinned(line, 10);
  ASSERT_THAT(thin.points, SizeIs(10));
  EXPECT_DOUBLE_EQ(thin.points[0].x, 4.5);
  EXPECT_DOUBLE_EQ(thin.points[0].y, 0.5);
  EXPECT_DOUBLE_EQ(thin.lows[0], 0);
  EXPECT_DOUBLE_EQ(thin.highs[0], 1);
  EXPECT_THAT(thinned(line, 100).highs, SizeIs(0));
}

}  // namespace
}  // namespace slipstream
