// Reading what train, compare and sweep leave, and what is said of files that are none of these.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "app/json_file.h"
#include "app/report/epoch_figures.h"
#include "app/report/input.h"
#include "app/report/steps_file.h"
#include "app/report/trace_reader.h"
#include "tests/app/refusal.h"
#include "tests/app/report_fixture.h"
#include "tests/support/test_support.h"

namespace slipstream {
namespace {
namespace fs = std::filesystem;

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

class ReportInputTest : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  std::string refusal(const std::vector<std::string>& folders) const {
    return test::refusal([&] { read_report_input(folders); });
  }
  /// What is said of a compare.json after `change`.
  template <typename Change>
  std::string compare_refusal(Change change) const {
    Json compare = test::compare_json("a sentence");
    change(compare);
    test::write_text(path("compare/compare.json"), json_text(compare));
    return refusal({path("compare")});
  }

  test::TemporaryFolder folder_;
};

TEST_F(ReportInputTest, TakesAnyMixture) {
  test::write_run(path("a"), {.utilisation = true});
  test::write_run(path("b"), {.mode = "overlapped", .steps_file = false});
  test::write_compare(path("compare"));
  test::write_sweep(path("sweep"), {{"lr", {0.1, 0.2}}});
  const ReportInput input = read_report_input({path("a"), path("sweep"), path("compare"), path("b") + "/"});
  ASSERT_EQ(input.runs.size(), 2U);
  EXPECT_EQ(input.runs[0].name, "a");
  EXPECT_EQ(input.runs[0].steps.size(), 40U);
  ASSERT_EQ(input.runs[0].busy.size(), 40U);
  EXPECT_DOUBLE_EQ(input.runs[0].busy[1].time_s, 0.1);
  EXPECT_DOUBLE_EQ(input.runs[0].busy[1].busy, 0.5);
  EXPECT_EQ(input.runs[1].name, "b");
  EXPECT_TRUE(input.runs[1].steps.empty());
  EXPECT_TRUE(input.runs[1].busy.empty());

  ASSERT_EQ(input.compares.size(), 1U);
  const ReportCompare& compare = input.compares[0];
  EXPECT_EQ(compare.file.rounds, 2);
  ASSERT_EQ(compare.file.rows.size(), 3U);
  EXPECT_EQ(compare.file.rows[0].name, "serial, CPU decode");
  EXPECT_DOUBLE_EQ(compare.file.rows[0].gpu_dips.value(), 0.25);
  EXPECT_FALSE(compare.file.rows[2].gpu_busy.has_value());
  EXPECT_FALSE(compare.file.rows[2].losses_agree.has_value());
  ASSERT_EQ(compare.runs.size(), 3U);
  EXPECT_THAT(compare.runs[0].folder, EndsWith("round1/serial-cpu"));  // whose epoch is the median
  EXPECT_EQ(compare.runs[0].name, "serial, CPU decode");

  ASSERT_EQ(input.sweeps.size(), 1U);
  EXPECT_THAT(input.sweeps[0].differing, ElementsAre("lr"));
  ASSERT_EQ(input.sweeps[0].results.size(), 2U);
  EXPECT_EQ(input.sweeps[0].results[1].status, RunStatus::kFailed);
  EXPECT_EQ(input.sweeps[0].runs.size(), 2U);
}

TEST_F(ReportInputTest, FoldersThatHoldNothingAreNamed) {
  EXPECT_EQ(refusal({path("nowhere")}), path("nowhere") + ": no such folder.");
  fs::create_directories(path("empty"));
  EXPECT_EQ(refusal({path("empty")}),
            path("empty") +
                ": holds no report.json, compare.json or results.json; name folders that train, compare or "
                "sweep wrote (their --out).");
  write_json(path("empty/report.json"), Json{{"epochs", 3}});
  EXPECT_THAT(refusal({path("empty")}),
              StartsWith(path("empty/report.json") + ": not a report of slipstream"));
  test::write_text(path("sweep/results.json"), "[]");
  EXPECT_EQ(refusal({path("sweep")}), path("sweep/results.json") + ": no run of the sweep has ended yet.");
}

TEST_F(ReportInputTest, BrokenFilesAreNamedWithThePlace) {
  test::write_run(path("run"), {});
  const std::string steps = test::read_text(path("run/steps.jsonl"));
  test::write_text(path("run/steps.jsonl"), steps + "{\"epoch\":3}\n");
  EXPECT_THAT(refusal({path("run")}),
              StartsWith(path("run/steps.jsonl") + ":41: not a step as train writes it"));
  test::write_text(path("run/steps.jsonl"), steps + "{\"epoch\":3");  // cut off by a crash
  EXPECT_EQ(read_report_input({path("run")}).runs[0].steps.size(), 40U);

  for (const char* line : {"0.2", "0.2,x", "0.05,0.5", "0.2,1.5", "0.2,0.5,1", "nan,0.5"}) {
    test::write_text(path("run/utilisation.csv"), std::string("time_s,busy\n0.1,0.5\n") + line + "\n");
    EXPECT_THAT(refusal({path("run")}), StartsWith(path("run/utilisation.csv") + ":3: must be a time"))
        << line;
  }
  test::write_text(path("run/utilisation.csv"), "time,busy\n");
  EXPECT_THAT(refusal({path("run")}), StartsWith(path("run/utilisation.csv") + ":1: the header"));

  test::write_text(path("run/report.json"), "{\n  \"epochs\": [,]\n}");
  EXPECT_THAT(refusal({path("run")}),
              StartsWith(path("run/report.json") + ": not valid JSON, line 2, column 14"));
  test::write_text(path("sweep/results.json"), "[\n {\"name\": \"a\"}\n]");
  EXPECT_THAT(refusal({path("sweep")}),
              StartsWith(path("sweep/results.json") + ":2: [0]: not a result of a sweep."));
  test::write_text(path("sweep/results.json"), "{}");
  EXPECT_EQ(refusal({path("sweep")}),
            path("sweep/results.json") + ": holds object, but must hold one JSON array.");
}

TEST_F(ReportInputTest, AComparesMembersAreCheckedOneByOne) {
  const std::string file = path("compare/compare.json");
  EXPECT_THAT(compare_refusal([](Json& compare) { compare.erase("sentence"); }),
              StartsWith(file + ":1 lacks 'sentence'; did another version"));
  EXPECT_THAT(compare_refusal([](Json& compare) { compare["version"] = 2; }),
              HasSubstr("version isn't one that"));
  EXPECT_THAT(compare_refusal([](Json& compare) { compare["kind"] = "sweep"; }),
              EndsWith("kind must be \"compare\"."));
  EXPECT_THAT(compare_refusal([](Json& compare) { compare["rows"] = Json::array(); }),
              EndsWith("rows must be an array that isn't empty."));
  EXPECT_THAT(compare_refusal([](Json& compare) { compare["rows"][1]["speedup"] = "much"; }),
              EndsWith("rows[1].speedup must be a number or null."));
  EXPECT_THAT(compare_refusal([](Json& compare) { compare["rows"][1].erase("name"); }),
              HasSubstr("rows[1] lacks 'name'"));
  EXPECT_THAT(compare_refusal([](Json& compare) { compare["rows"][2]["runs"] = {1}; }),
              EndsWith("rows[2].runs must be an array of texts."));
  EXPECT_THAT(compare_refusal([](Json&) {}),
              HasSubstr("round1/serial-cpu/report.json"));  // its runs are gone
}

TEST_F(ReportInputTest, TracesBecomeTracksInTheirOrder) {
  test::write_run(path("run"), {.steps = 3, .trace = true});
  const std::vector<TracedTrack> tracks = read_trace(path("run/trace.json")).tracks;
  ASSERT_EQ(tracks.size(), 2U);
  EXPECT_EQ(tracks[0].name, "worker 1");
  ASSERT_EQ(tracks[0].spans.size(), 9U);
  EXPECT_EQ(tracks[0].spans[0].name, "wait for input");  // which holds those that follow
  EXPECT_EQ(tracks[0].spans[1].name, "read");
  EXPECT_EQ(tracks[1].name, "compute stream");
  ASSERT_EQ(tracks[1].spans.size(), 3U);
  EXPECT_EQ(tracks[1].spans[0].name, "step 1");
  EXPECT_NEAR(tracks[1].spans[0].begin_s, 0.05, 1e-9);
  EXPECT_NEAR(tracks[1].spans[0].end_s, 0.55, 1e-9);

  test::write_text(path("list.json"), R"([{"ph":"X","name":"b","pid":1,"tid":2,"ts":5,"dur":1},
    {"ph":"X","name":"a","pid":1,"tid":2,"ts":1,"dur":1}, {"ph":"X","name":"c","pid":1,"tid":1,"ts":1,"dur":1},
    {"ph":"M","name":"thread_sort_index","pid":1,"tid":1,"args":{"sort_index":-1}}])");
  const std::vector<TracedTrack> sorted = read_trace(path("list.json")).tracks;
  ASSERT_EQ(sorted.size(), 2U);
  EXPECT_EQ(sorted[0].name, "thread 1");
  EXPECT_EQ(sorted[1].spans[0].name, "a");

  test::write_text(path("broken.json"), "{\"traceEvents\": [{\"ph\":\"X\",");
  EXPECT_THAT(test::refusal([&] { read_trace(path("broken.json")); }),
              StartsWith(path("broken.json") + ": no trace"));
  test::write_text(path("broken.json"), R"({"traceEvents": [{"ph":"X","ts":"soon"}]})");
  EXPECT_THAT(test::refusal([&] { read_trace(path("broken.json")); }),
              StartsWith(path("broken.json") + ": no trace"));
}

TEST_F(ReportInputTest, FlowsFollowTheirIdOverTheTracks) {
  test::write_text(path("flows.json"), R"([
    {"ph":"M","name":"thread_sort_index","pid":1,"tid":7,"args":{"sort_index":2}},
    {"ph":"X","name":"step","pid":1,"tid":7,"ts":9e6,"dur":1e6}, {"ph":"X","name":"read","pid":1,"tid":3,"ts":1e6,"dur":1},
    {"ph":"f","id":5,"bp":"e","pid":1,"tid":7,"ts":9e6}, {"ph":"s","id":5,"pid":1,"tid":3,"ts":1e6},
    {"ph":"s","id":4,"pid":1,"tid":3,"ts":5e6}, {"ph":"t","id":4,"pid":1,"tid":8,"ts":6e6}])");
  const TracedRun run = read_trace(path("flows.json"));
  ASSERT_EQ(run.tracks.size(), 2U);
  EXPECT_EQ(run.tracks[0].name, "thread 3");
  ASSERT_EQ(run.flows.size(), 1U) << "that of batch 4 has one point on a track with spans";
  ASSERT_EQ(run.flows[0].size(), 2U);
  EXPECT_EQ(run.flows[0][0].track, 0U);
  EXPECT_DOUBLE_EQ(run.flows[0][0].at_s, 1);
  EXPECT_EQ(run.flows[0][1].track, 1U);
  EXPECT_DOUBLE_EQ(run.flows[0][1].at_s, 9);
  test::write_text(path("broken.json"), R"([{"ph":"s","pid":1,"tid":3,"ts":1}])");
  EXPECT_THAT(test::refusal([&] { read_trace(path("broken.json")); }),
              StartsWith(path("broken.json") + ": no trace"));
}

TEST_F(ReportInputTest, DifferencesLeaveOutWhereARunIs) {
  const Json one = {{"lr", 0.1}, {"mode", "serial"}, {"out", "a"}, {"resume", false}, {"seed", 1}};
  const Json other = {{"lr", 0.1},      {"mode", "pinned"}, {"out", "b"},
                      {"resume", true}, {"seed", 1},        {"trace", true}};
  EXPECT_THAT(differing_options({&one, &other}), ElementsAre("mode", "trace"));
  EXPECT_TRUE(differing_options({&one, &one}).empty());
}

TEST(EpochParts, AddUpToTheWall) {
  const Json measured = {{"wall_s", 10.}, {"compute_s", 6.}, {"data_wait_s", 3.5}};
  const auto parts = epoch_parts(measured);
  ASSERT_TRUE(parts.has_value());
  EXPECT_DOUBLE_EQ(*parts->compute_s + *parts->exposed_s + parts->other_s, parts->wall_s);
  EXPECT_DOUBLE_EQ(parts->other_s, 0.5);
  const auto named = epoch_parts({{"wall_s", 10.}, {"compute_s", 6.}, {"data_wait_s", 3.}, {"other_s", 0.9}});
  EXPECT_DOUBLE_EQ(named->other_s, 0.9);
  const auto unmeasured = epoch_parts({{"wall_s", 10.}, {"compute_s", nullptr}, {"data_wait_s", nullptr}});
  EXPECT_FALSE(unmeasured->compute_s.has_value());
  EXPECT_DOUBLE_EQ(unmeasured->other_s, 10);
  EXPECT_FALSE(epoch_parts({{"epoch", 1}}).has_value());
}

}  // namespace
}  // namespace slipstream
