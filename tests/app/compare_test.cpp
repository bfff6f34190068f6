#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "app/compare_figures.h"
#include "app/compare_plan.h"
#include "app/compare_rows.h"
#include "data/error.h"
#include "tests/support/test_support.h"

namespace slipstream {
namespace {
namespace fs = std::filesystem;

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

TEST(CompareLists, KeepTheUsualOrder) {
  EXPECT_THAT(listed_modes("overlapped,serial"), ElementsAre(Mode::kSerial, Mode::kOverlapped));
  EXPECT_THAT(listed_modes("all"), ElementsAre(Mode::kSerial, Mode::kPinned, Mode::kOverlapped));
  EXPECT_THAT(listed_decoders("cuda"), ElementsAre(Decoder::kCuda));
  EXPECT_THAT([] { listed_modes("serial,overlaped"); },
              ThrowsMessage<UsageError>(HasSubstr("'overlaped'; did you mean overlapped?")));
  EXPECT_THAT([] { listed_decoders(""); }, ThrowsMessage<UsageError>(HasSubstr("--decoders takes")));
}

TrainOptions train_options(const std::string& folder) {
  TrainOptions options;
  options.train_dir = folder;
  options.device = "cpu";
  options.batch_size = 8;
  return options;
}

TEST(ComparePlan, HasEachWayAndTheCeilingAndSaysWhatIsMissing) {
  const test::TemporaryFolder folder;
  const auto plan = [&](int64_t limit) {
    TrainOptions options = train_options(folder.path().string());
    options.limit_batches = limit;
    return plan_compare(options, listed_modes("all"), listed_decoders("all"), /*images=*/50);
  };
  const ComparePlan all = plan(0);
  std::vector<std::string> names, folders;
  for (const ComparedWay& way : all.ways) {
    names.push_back(way.name);
    folders.push_back(way.folder);
    EXPECT_EQ(way.config.at("limit_batches"), 6) << "the ceiling has no images to count";
    EXPECT_EQ(way.config.at("synthetic"), way.synthetic);
    EXPECT_EQ(way.config.at("mode"), way.mode);
  }
  EXPECT_THAT(names,
              ElementsAre("serial, CPU decode", "pinned, CPU decode", "overlapped, CPU decode", "synthetic"));
  EXPECT_THAT(folders, ElementsAre("serial-cpu", "pinned-cpu", "overlapped-cpu", "synthetic"));
  EXPECT_THAT(all.skipped, ElementsAre(HasSubstr("GPU decode is left out")));
  EXPECT_EQ(plan(4).ways.back().config.at("limit_batches"), 4);
  EXPECT_EQ(plan(90).ways.back().config.at("limit_batches"), 6);
}

TEST(ComparePlan, RefusesWhatTrainWould) {
  const test::TemporaryFolder folder;
  EXPECT_THAT(
      [&] { plan_compare(train_options(folder.path().string()), {Mode::kSerial}, {Decoder::kCuda}, 50); },
      ThrowsMessage<UsageError>(HasSubstr("--decode cuda")));
}

TEST(ComparePlan, StartsFromWeightsButForTheCeilingWhoseClassesAreOthers) {
  const test::TemporaryFolder folder;
  TrainOptions options = train_options(folder.path().string());
  options.weights = (folder.path() / "model.pt").string();
  test::write_text(options.weights, "weights");
  const ComparePlan plan = plan_compare(options, {Mode::kSerial}, {Decoder::kCpu}, 50);
  ASSERT_EQ(plan.ways.size(), 2U);
  EXPECT_EQ(plan.ways[0].config.at("weights"), options.weights);
  EXPECT_EQ(plan.ways[1].name, "synthetic");
  EXPECT_EQ(plan.ways[1].config.at("weights"), "");
}

TEST(ComparePlan, RunsAllWaysInEachRound) {
  const test::TemporaryFolder folder;
  const ComparePlan plan =
      plan_compare(train_options(folder.path().string()), {Mode::kSerial}, {Decoder::kCpu}, 50);
  std::vector<std::string> names;
  for (const PlannedRun& run : interleaved_runs(plan, 2)) names.push_back(run.name);
  EXPECT_THAT(names,
              ElementsAre("round1/serial-cpu", "round1/synthetic", "round2/serial-cpu", "round2/synthetic"));
}

TEST(Spread, IsMedianLeastAndMost) {
  const Spread odd = spread_of({3, 1, 9});
  EXPECT_EQ(odd.median, 3);
  EXPECT_EQ(odd.min, 1);
  EXPECT_EQ(odd.max, 9);
  EXPECT_EQ(spread_of({4, 1, 2, 8}).median, 3);
  EXPECT_EQ(spread_of({7}).median, 7);
}

/// An epoch of two steps: a wait of `wait_s`, a step of `step_s`, and again.
std::string steps(int epoch, double origin_s, double wait_s, double step_s, const char* loss) {
  std::string lines;
  for (const int step : {1, 2}) {
    lines += fmt::format(
        R"({{"epoch":{},"step":{},"images":50,"loss":{},"begin_s":{},"compute_s":{},"data_wait_s":{}}})"
        "\n",
        epoch, step, loss, origin_s + step * wait_s + (step - 1) * step_s, step_s, wait_s);
  }
  return lines;
}

std::string epoch(int number, double wall_s, double wait_s, const char* hidden) {
  return fmt::format(R"({{"epoch":{},"wall_s":{},"images_per_s":{},"data_wait_s":{},"hidden_share":{}}})",
                     number, wall_s, 100 / wall_s, wait_s, hidden);
}

class RunFiguresTest : public testing::Test {
 protected:
  void write(const std::string& epochs, const std::string& lines) const {
    test::write_text(folder_.path() / "report.json", R"({"epochs": [)" + epochs + "]}");
    test::write_text(folder_.path() / "steps.jsonl", lines);
  }
  RunFigures read() const { return read_run_figures(folder_.path().string()); }
  test::TemporaryFolder folder_;
};

TEST_F(RunFiguresTest, LeaveTheFirstEpochsTimesOutButNotItsLosses) {
  write(epoch(1, 9, 8, "0.1") + "," + epoch(2, 0.4, 0.12, "0.5"),
        steps(1, 0, 4, 0.5, "2.5") + steps(2, 20, 0.06, 0.14, "1.5"));
  const RunFigures figures = read();
  ASSERT_EQ(figures.epochs.size(), 1U);
  EXPECT_EQ(figures.epochs[0].wall_s, 0.4);
  EXPECT_EQ(figures.epochs[0].images_per_s, 250);
  EXPECT_EQ(figures.epochs[0].hidden_share, 0.5);
  ASSERT_EQ(figures.losses.size(), 4U);
  EXPECT_EQ(figures.losses[0], (RunFigures::Loss{1, 1, 2.5}));
  EXPECT_EQ(figures.losses[3], (RunFigures::Loss{2, 2, 1.5}));
  EXPECT_NEAR(figures.watched_s, 0.4, 1e-6);
  EXPECT_NEAR(figures.busy_s, 0.28, 1e-6);
  EXPECT_NEAR(figures.dip_s, 0.12, 1e-6);  // three bins of 20 ms before each step
}

TEST_F(RunFiguresTest, KeepTheOnlyEpoch) {
  write(epoch(1, 9, 8, "null"), steps(1, 0, 0, 4.5, "null"));
  const RunFigures figures = read();
  ASSERT_EQ(figures.epochs.size(), 1U);
  EXPECT_FALSE(figures.epochs[0].hidden_share);
  EXPECT_FALSE(figures.losses[0].value);
  EXPECT_NEAR(figures.busy_s, 9, 1e-6);
}

TEST_F(RunFiguresTest, NameTheFolderThatIsNoRun) {
  EXPECT_THAT([&] { read(); }, ThrowsMessage<Error>(HasSubstr(folder_.path().string())));
  write("", "");
  EXPECT_THAT([&] { read(); }, ThrowsMessage<Error>(HasSubstr("no epoch has ended")));
  write(epoch(1, 9, 8, "0.1"), "");
  EXPECT_THAT([&] { read(); }, ThrowsMessage<Error>(HasSubstr("steps.jsonl")));
  write(epoch(1, 9, 8, "0.1"), "{\"epoch\":1}\n");
  EXPECT_THAT([&] { read(); }, ThrowsMessage<Error>(HasSubstr("isn't what train writes")));
}

ComparedWay way(const std::string& mode, const std::string& decode) {
  const bool synthetic = decode == "none";
  const std::string name =
      synthetic ? "synthetic" : mode + (decode == "cuda" ? ", GPU decode" : ", CPU decode");
  return {name, synthetic ? name : mode + "-" + decode, mode, decode, synthetic, {}};
}

/// A run of one epoch of 100 images.
RunFigures figures(double wall_s, double wait_s, std::optional<double> hidden, float loss = 2.5F) {
  return {.epochs = {{wall_s, 100 / wall_s, wait_s, hidden}},
          .losses = {{1, 1, 3}, {1, 2, loss}},
          .watched_s = wall_s,
          .busy_s = wall_s - wait_s,
          .dip_s = wait_s / 2};
}

CompareResult fixed_result() {
  const ComparePlan plan = {
      .ways = {way("serial", "cpu"), way("overlapped", "cpu"), way("overlapped", "none")}, .skipped = {}};
  return compare_rows(plan, {{figures(24, 12, 0), figures(25, 13, 0), figures(23, 11, 0)},
                             {figures(10, 0.1, 0.991), figures(10.5, 0.1, 0.992), figures(9.5, 0.1, 0.99)},
                             {figures(9, 0, {}, 7), figures(8, 0, {}, 7), figures(10, 0, {}, 7)}});
}

TEST(CompareRows, AreOfAllRounds) {
  const CompareResult result = fixed_result();
  ASSERT_EQ(result.rows.size(), 3U);
  EXPECT_TRUE(result.losses_agree());
  const CompareRow& serial = result.rows[0];
  const CompareRow& overlapped = result.rows[1];
  EXPECT_EQ(serial.epoch_s.median, 24);
  EXPECT_EQ(serial.epoch_s.min, 23);
  EXPECT_EQ(serial.epoch_s.max, 25);
  EXPECT_EQ(serial.speedup, 1);
  EXPECT_EQ(serial.data_wait_share, 0.5);
  EXPECT_EQ(overlapped.speedup, 2.4);
  EXPECT_EQ(overlapped.images_per_s.median, 10);
  EXPECT_EQ(overlapped.hidden_share, 0.991);
  EXPECT_DOUBLE_EQ(overlapped.busy_mean, 0.99);
  EXPECT_DOUBLE_EQ(overlapped.busy_dips, 0.005);
  EXPECT_DOUBLE_EQ(overlapped.ceiling_share, 0.9);
  EXPECT_EQ(result.rows[2].ceiling_share, 1);
  EXPECT_FALSE(result.rows[2].hidden_share);
  EXPECT_THAT(overlapped.runs, ElementsAre("runs/round1/overlapped-cpu", "runs/round2/overlapped-cpu",
                                           "runs/round3/overlapped-cpu"));
}

TEST(CompareRows, AreATable) {
  EXPECT_EQ(
      compare_rows_table(fixed_result().rows),
      "                        epoch (median)            range  images/s  speed-up  data wait  hidden    "
      "busy   dips  of ceiling  losses\n"
      "serial, CPU decode              24.0 s   23.0 to 25.0 s     4.167     1.00x      50.0%    0.0%   "
      "50.0%  25.0%       37.5%   agree\n"
      "overlapped, CPU decode          10.0 s  9.500 to 10.5 s      10.0     2.40x       1.0%   99.1%   "
      "99.0%   0.5%       90.0%   agree\n"
      "synthetic                      9.000 s  8.000 to 10.0 s      11.1     2.67x       0.0%       -  "
      "100.0%   0.0%      100.0%   agree\n");
}

TEST(CompareRows, AreRecordsThatAProgramReads) {
  const Json record = compare_row_record(fixed_result().rows[1]);
  std::vector<std::string> keys;
  for (const auto& [key, value] : record.items()) keys.push_back(key);
  EXPECT_THAT(keys, ElementsAre("name", "mode", "decode", "synthetic", "runs", "epoch_s", "images_per_s",
                                "speedup", "data_wait_share", "hidden_share", "gpu_utilisation",
                                "ceiling_share", "losses_agree"));
  EXPECT_EQ(record.at("epoch_s"), (Json{{"median", 10.0}, {"min", 9.5}, {"max", 10.5}}));
  EXPECT_EQ(record.at("gpu_utilisation").at("dips"), fixed_result().rows[1].busy_dips);
  EXPECT_TRUE(compare_row_record(fixed_result().rows[2]).at("hidden_share").is_null());
}

TEST(CompareRows, NameTheFirstLossThatDiffers) {
  const ComparePlan plan = {
      .ways = {way("serial", "cpu"), way("pinned", "cpu"), way("pinned", "cuda"), way("overlapped", "none")},
      .skipped = {}};
  std::vector<std::vector<RunFigures>> runs = {{figures(2, 1, 0), figures(2, 1, 0)},
                                               {figures(2, 1, 0), figures(2, 1, 0, 2.5000002F)},
                                               {figures(2, 1, 0, 4), figures(2, 1, 0, 4)},
                                               {figures(1, 0, {}), figures(1, 0, {})}};
  const CompareResult result = compare_rows(plan, runs);
  EXPECT_FALSE(result.losses_agree());
  EXPECT_FALSE(result.rows[1].losses_agree);
  EXPECT_TRUE(result.rows[2].losses_agree) << "another decoder has other pixels";
  EXPECT_THAT(result.mismatches,
              ElementsAre("pinned, CPU decode, round 2, has other losses than serial, CPU decode, round 1: "
                          "2.5000002 instead of 2.5 in step 2 of epoch 1."));

  runs[1][1] = runs[1][0];
  runs[1][0].losses.pop_back();
  EXPECT_THAT(compare_rows(plan, runs).mismatches, ElementsAre(HasSubstr("1 steps instead of 2")));
}

TEST(CompareRows, TakeNoProofFromLossesThatAreNoNumbers) {
  const ComparePlan plan = {.ways = {way("serial", "cpu"), way("overlapped", "none")}, .skipped = {}};
  RunFigures lost = figures(2, 1, 0);
  lost.losses[1].value.reset();
  const CompareResult result = compare_rows(plan, {{lost}, {figures(1, 0, {})}});
  EXPECT_THAT(result.mismatches, ElementsAre(HasSubstr("no finite number from step 2 of epoch 1 on")));
}

TEST(CompareSentence, IsWhatAPersonWouldQuote) {
  EXPECT_EQ(compare_sentence(fixed_result().rows),
            "overlapped is 2.40x serial; input is hidden to 99.1%; now compute-bound");
}

/// Of one round: the first way's epoch takes 10 s, 5 of them waiting.
std::string sentence(const std::vector<std::pair<ComparedWay, RunFigures>>& others) {
  ComparePlan plan = {.ways = {way("serial", "cpu")}, .skipped = {}};
  std::vector<std::vector<RunFigures>> runs = {{figures(10, 5, 0)}};
  for (const auto& [way, run] : others) {
    plan.ways.push_back(way);
    runs.push_back({run});
  }
  plan.ways.push_back(way("overlapped", "none"));
  runs.push_back({figures(1, 0, {})});
  return compare_sentence(compare_rows(plan, runs).rows);
}

TEST(CompareSentence, IsHonest) {
  EXPECT_EQ(sentence({{way("overlapped", "cpu"), figures(8, 2, 0.4)}}),
            "overlapped is 1.25x serial; input is hidden to 40.0%; still input-bound: 25.0% of the time "
            "compute waits for data");
  EXPECT_EQ(sentence({{way("overlapped", "cpu"), figures(10, 0, 1)}}),
            "overlapped is 1.00x serial, which is within what epochs vary by; input is hidden to 100.0%; now "
            "compute-bound");
  // The fastest decoder's; `overlapped` though another mode was faster by a hair.
  EXPECT_EQ(sentence({{way("overlapped", "cpu"), figures(4, 0, 1)},
                      {way("pinned", "cuda"), figures(0.4, 0, 1)},
                      {way("overlapped", "cuda"), figures(0.5, 0, 1)}}),
            "overlapped, GPU decode is 20.0x serial, CPU decode; input is hidden to 100.0%; now "
            "compute-bound");
  EXPECT_EQ(sentence({}),
            "serial, CPU decode reaches 10.0% of the rate without input; input is hidden to 0.0%; "
            "input-bound: 50.0% of the time compute waits for data");
}

}  // namespace
}  // namespace slipstream
