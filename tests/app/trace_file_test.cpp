#include "app/trace_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "app/json_file.h"
#include "app/utilisation.h"
#include "data/error.h"
#include "tests/support/test_support.h"

namespace slipstream {
namespace {

using testing::ElementsAre;

const std::string kFile = "a.jpg";  // a trace only points to it

LoaderOptions loader_options(Mode mode) {
  LoaderOptions options{.schedule = schedule_of(mode),
                        .compute = make_stream(c10::kCPU, StreamPriority::kNormal)};
  options.workers = 2;
  options.prefetch = 3;
  return options;
}

/// Batch 4 (of a ring of 3: slot 1) from its two samples to its step.
void add_batch(Trace& trace, const std::string& file) {
  trace.add({TraceWork::kRead, trace.worker(1), 10.5, 10.75, 4, nullptr});
  trace.add({TraceWork::kRead, trace.worker(0), 10.25, 10.5, 4, &file});
  trace.add({TraceWork::kStage, trace.stager(), 11, 11.5, 4});
  trace.add({TraceWork::kWaitForInput, trace.training_thread(), 10, 11.5, 4});
  trace.add({TraceWork::kStep, trace.compute_stream(), 12, 14, 4});
}

std::vector<Json> events(const Json& document, const std::string& phase) {
  std::vector<Json> found;
  for (const Json& event : document.at("traceEvents")) {
    if (event.at("ph") == phase) found.push_back(event);
  }
  return found;
}

TEST(TraceFile, HasAThreadATrackAndAnEventASpan) {
  Trace trace("overlapped, CPU decode", loader_options(Mode::kOverlapped), 10);
  const std::string file = "a class/odd \"name\"\xff.jpg";
  add_batch(trace, file);
  const Json document = Json::parse(trace_text({&trace}));
  EXPECT_EQ(document.at("displayTimeUnit"), "ms");

  std::vector<std::string> names;
  for (const Json& event : events(document, "M")) {
    if (event.at("name") != "thread_sort_index") names.push_back(event.at("args").at("name"));
  }
  EXPECT_THAT(names, ElementsAre("slipstream: overlapped, CPU decode", "training thread", "worker 1",
                                 "worker 2", "stager", "compute stream"));
  const std::vector<Json> spans = events(document, "X");
  ASSERT_EQ(spans.size(), 5U);
  EXPECT_EQ(spans[0].at("name"), "wait for input");
  EXPECT_EQ(spans[0].at("ts"), 0);
  const Json& read = spans[1];
  EXPECT_EQ(read.at("name"), "read");
  EXPECT_EQ(read.at("cat"), "host");
  EXPECT_EQ(read.at("tid"), 1);
  EXPECT_EQ(read.at("ts"), 250'000);  // microseconds
  EXPECT_EQ(read.at("dur"), 250'000);
  EXPECT_EQ(read.at("args").at("batch"), 5);
  EXPECT_EQ(read.at("args").at("slot"), 1);
  EXPECT_EQ(read.at("args").at("file"), "a class/odd \"name\"\xef\xbf\xbd.jpg");
  EXPECT_FALSE(spans[2].at("args").contains("file"));
  EXPECT_EQ(spans[4].at("name"), "step");
  EXPECT_EQ(spans[4].at("cat"), "device");
}

TEST(TraceFile, FollowsABatchFromItsFirstReadToItsStep) {
  Trace trace("overlapped", loader_options(Mode::kOverlapped), 10);
  add_batch(trace, kFile);
  const Json document = Json::parse(trace_text({&trace}));
  const Json start = events(document, "s").at(0), way = events(document, "t").at(0);
  const Json end = events(document, "f").at(0);
  EXPECT_EQ(start.at("tid"), 1);  // of worker 1, whose read was the first
  EXPECT_EQ(start.at("ts"), 250'000);
  EXPECT_EQ(way.at("tid"), 3);
  EXPECT_EQ(end.at("tid"), 4);
  EXPECT_EQ(end.at("ts"), 2'000'000);
  EXPECT_EQ(end.at("bp"), "e");
  EXPECT_EQ(start.at("id"), end.at("id"));
  EXPECT_EQ(start.at("id"), way.at("id"));
  EXPECT_EQ(events(document, "s").size() + events(document, "t").size() + events(document, "f").size(), 3U);
}

TEST(TraceFile, TellsTracesApart) {
  Trace serial("serial", loader_options(Mode::kSerial), 10),
      other("pinned", loader_options(Mode::kPinned), 10);
  add_batch(serial, kFile);
  add_batch(other, kFile);
  const test::TemporaryFolder folder;
  const std::string path = (folder.path() / "trace.json").string();
  write_trace(path, {&serial, &other});
  const Json document = read_json_object(path);
  std::set<int> processes, flows_of_one, flows_of_two;
  for (const Json& event : events(document, "X")) processes.insert(event.at("pid").get<int>());
  EXPECT_THAT(processes, ElementsAre(1, 2));
  EXPECT_NE(events(document, "s")[0].at("id"), events(document, "s")[1].at("id"));
  EXPECT_EQ(events(document, "s")[0].at("tid"), 0);  // serially there is one thread
}

TEST(TraceFile, IsNamedWhereItCannotBeWritten) {
  Trace trace("serial", loader_options(Mode::kSerial), 10);
  EXPECT_THAT([&] { write_trace("/nowhere/trace.json", {&trace}); },
              testing::ThrowsMessage<Error>(testing::HasSubstr("/nowhere/trace.json")));
}

std::vector<double> busy(const std::vector<UtilisationBin>& bins) {
  std::vector<double> shares;
  for (const UtilisationBin& bin : bins) shares.push_back(std::round(bin.busy * 1000) / 1000);
  return shares;
}

TEST(Utilisation, SharesStepsAmongBins) {
  Utilisation utilisation;
  // 10 ms of waiting, 35 ms of a step; the bins are 20 ms.
  const auto first = utilisation.add({1, 0.010, 5.010, 5.045});
  EXPECT_THAT(busy(first), ElementsAre(0.5, 1));
  EXPECT_DOUBLE_EQ(first[1].begin_s, 5.020);
  // 5 ms in the third bin; then idle to the middle of the fifth.
  EXPECT_THAT(busy(utilisation.add({1, 0.045, 5.090, 5.105})), ElementsAre(0.25, 0, 0.5));
  const auto rest = utilisation.finish();
  EXPECT_THAT(busy(rest), ElementsAre(1));
  EXPECT_NEAR(rest[0].width_s, 0.005, 1e-9);
  EXPECT_THAT(utilisation.finish(), testing::IsEmpty());
}

TEST(Utilisation, LeavesOutWhatIsBetweenEpochs) {
  Utilisation utilisation;
  EXPECT_THAT(utilisation.add({1, 0, 0, 0.010}), testing::IsEmpty());
  const auto ended = utilisation.add({2, 0.005, 9.005, 9.030});
  ASSERT_EQ(ended.size(), 2U);
  EXPECT_NEAR(ended[0].width_s, 0.010, 1e-9);
  EXPECT_DOUBLE_EQ(ended[1].begin_s, 9.0);
  EXPECT_NEAR(ended[1].busy, 0.75, 1e-9);
  EXPECT_EQ(utilisation_rows(ended), "0.000,1.000\n9.000,0.750\n");
}

}  // namespace
}  // namespace slipstream
