// Scales, ticks and the drawings made of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <regex>

#include "app/report/bar_chart.h"
#include "app/report/heat_map.h"
#include "app/report/line_chart.h"
#include "app/report/parallel_chart.h"
#include "app/report/percentile_chart.h"
#include "app/report/scale.h"
#include "app/report/timeline_chart.h"

namespace slipstream {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> texts(const Ticks& ticks) {
  std::vector<std::string> all;
  for (const double value : ticks.values) all.push_back(ticks.text(value));
  return all;
}

/// The numbers of an attribute of all elements of a style, in order.
std::vector<double> attributes(const Drawing& drawing, const std::string& style, const std::string& name) {
  std::vector<double> values;
  const std::regex element("<\\w+ class=\"" + style + "\"[^>]* " + name + "=\"([-0-9.]+)\"");
  const std::string& body = drawing.body();
  for (std::sregex_iterator at(body.begin(), body.end(), element), end; at != end; ++at) {
    values.push_back(std::stod((*at)[1]));
  }
  return values;
}

TEST(ReportScale, MapsItsEndsAndWhatLiesBetween) {
  const Scale scale(10, 20, 100, 300);
  EXPECT_DOUBLE_EQ(scale(10), 100);
  EXPECT_DOUBLE_EQ(scale(15), 200);
  EXPECT_DOUBLE_EQ(scale(20), 300);
  const Scale down(0, 1, 200, 0);  // as y axes go
  EXPECT_DOUBLE_EQ(down(0.25), 150);
  const Scale log(1, 10'000, 0, 400, /*is_log=*/true);
  EXPECT_NEAR(log(100), 200, 1e-9);
  EXPECT_DOUBLE_EQ(Scale(5, 5, 0, 10)(5), 5);  // an empty range: the middle
}

TEST(ReportScale, TicksAreRoundAndFewEnough) {
  EXPECT_THAT(texts(nice_ticks(0, 1, 5)), ElementsAre("0.0", "0.2", "0.4", "0.6", "0.8", "1.0"));
  EXPECT_THAT(texts(nice_ticks(0, 0.3, 3)), ElementsAre("0.0", "0.1", "0.2", "0.3"));
  EXPECT_THAT(texts(nice_ticks(0, 6104, 4)), ElementsAre("0", "2,000", "4,000", "6,000"));
  EXPECT_THAT(texts(nice_ticks(-3, 3, 6)), ElementsAre("-3", "-2", "-1", "0", "1", "2", "3"));
  EXPECT_THAT(texts(nice_ticks(0, 1'250'000, 2)), ElementsAre("0", "1,000,000"));
  EXPECT_THAT(texts(nice_ticks(1, 3, 10, /*least_step=*/1)), ElementsAre("1", "2", "3"));
  EXPECT_EQ(nice_ticks(3, 3, 5).values.size(), 1U);
  for (const double high : {0.07, 1., 9.99, 123., 8.8e6}) {
    for (const int most : {1, 2, 5, 10}) {
      const Ticks ticks = nice_ticks(0, high, most);
      EXPECT_GE(ticks.values.size(), 1U);
      EXPECT_LE(ticks.values.size(), static_cast<size_t>(most) + 1) << high << " " << most;
      EXPECT_LE(ticks.values.back(), high * (1 + 1e-9));
    }
  }
}

TEST(ReportScale, AxesReachToTheirTicks) {
  const Axis axis = rounded_out({.title = "images/s", .low = 180, .high = 930}, /*from_zero=*/true);
  EXPECT_DOUBLE_EQ(axis.low, 0);
  EXPECT_DOUBLE_EQ(axis.high, 1000);
  const Axis near = rounded_out({.title = "loss", .low = 2.31, .high = 2.58}, /*from_zero=*/false);
  EXPECT_NEAR(near.low, 2.3, 1e-9);
  EXPECT_NEAR(near.high, 2.6, 1e-9);
  const Axis flat = rounded_out({.title = "loss", .low = 4, .high = 4}, /*from_zero=*/false);
  EXPECT_LT(flat.low, 4);
  EXPECT_GT(flat.high, 4);
  const Axis none = rounded_out({.title = "loss", .low = INFINITY, .high = -INFINITY}, /*from_zero=*/false);
  EXPECT_LT(none.low, none.high);
  const Axis share{.title = "busy", .low = 0, .high = 1, .is_share = true};
  const Ticks ticks = axis_ticks(share, 2);
  ASSERT_EQ(ticks.values.size(), 3U);
  EXPECT_EQ(tick_text(share, ticks, ticks.values[1]), "50%");
}

TEST(ReportScale, DivergedLossesGetPowersOfTen) {
  EXPECT_FALSE(wants_log(0.5, 7));
  EXPECT_FALSE(wants_log(0, 1e6));
  ASSERT_TRUE(wants_log(1.7, 3e6));
  const Axis axis = rounded_out_log({.title = "loss", .low = 1.7, .high = 3e6});
  EXPECT_EQ(axis.title, "loss, logarithmic");
  EXPECT_NEAR(axis.low, 1, 1e-9);
  EXPECT_NEAR(axis.high, 1e7, 1e-3);
  const Ticks ticks = axis_ticks(axis, 5);
  std::vector<std::string> labels;
  for (const double value : ticks.values) labels.push_back(tick_text(axis, ticks, value));
  EXPECT_THAT(labels, ElementsAre("1", "100", "10,000", "10⁶"));
}

TEST(ReportScale, TimesHaveTheUnitOfTheLongest) {
  EXPECT_STREQ(time_unit(0.4).name, "ms");
  EXPECT_STREQ(time_unit(4).name, "s");
  EXPECT_STREQ(time_unit(4000).name, "min");
  EXPECT_STREQ(time_unit(40'000).name, "h");
  EXPECT_EQ(duration_text(0.0421), "42.1 ms");
  EXPECT_EQ(duration_text(0), "0 s");
  EXPECT_EQ(duration_text(3.5124), "3.512 s");
  EXPECT_EQ(duration_text(725), "12 min 5 s");
}

TEST(ReportDrawing, TextsAreEscapedAndCutAtLetters) {
  Drawing drawing(100, 50);
  drawing.text({1, 2}, "a<b & \"c\"", Anchor::kEnd, "name");
  drawing.rect({0, 0}, 5, -1, "part s1", "<i>");
  EXPECT_EQ(
      drawing.body(),
      "<text class=\"name\" x=\"1\" y=\"2\" text-anchor=\"end\">a&lt;b &amp; &quot;c&quot;</text>\n"
      "<rect class=\"part s1\" x=\"0\" y=\"0\" width=\"5\" height=\"0\"><title>&lt;i&gt;</title></rect>\n");
  EXPECT_EQ(shortened("short", 100), "short");
  EXPECT_EQ(shortened("ααααααααααααα", text_width("12345")), "αααα…");
  EXPECT_EQ(series_style(0), "s1");
  EXPECT_EQ(series_style(7), "s8");
  EXPECT_EQ(series_style(8), "s1 dashed");
}

TEST(ReportBars, PartsLieEndToEndAndAddUpToTheTotal) {
  const Bar bar{.name = "serial",
                .label = "10 s",
                .parts = {{"compute", 4, "compute"}, {"exposed", 5, "exposed"}, {"other", 1, "other"}},
                .range = std::pair(9.5, 10.)};
  EXPECT_DOUBLE_EQ(bar.total(), 10);
  const Drawing drawing = bar_chart({.axis_title = "time (s)", .unit = 1, .bars = {bar}}, 1009);
  const double second = 100;  // pixels: 1000 of them from 1 on for an axis to 10
  const auto lefts = attributes(drawing, "part \\w+", "x");
  const auto widths = attributes(drawing, "part \\w+", "width");
  ASSERT_EQ(lefts.size(), 3U);
  EXPECT_THAT(lefts, ElementsAre(1, 1 + 4 * second, 1 + 9 * second));
  for (size_t at = 0; at < 3; ++at) EXPECT_NEAR(widths[at], bar.parts[at].value * second, 1.01);
  EXPECT_THAT(attributes(drawing, "range", "x1"), ElementsAre(951, 951, 1001));
  EXPECT_THAT(drawing.body(), HasSubstr(">time (s)</text>"));
  EXPECT_THAT(drawing.body(), HasSubstr("<title>serial, exposed</title>"));
}

TEST(ReportBars, EmptyPartsAndUnitsDoNoHarm) {
  const Bar nothing{.name = "nothing", .label = "0 s", .parts = {{"compute", 0, "compute"}}, .range = {}};
  const Bar some{.name = "some", .label = "20 ms", .parts = {{"compute", 0.02, "compute"}}, .range = {}};
  const Drawing drawing = bar_chart({.axis_title = "time (ms)", .unit = 1e-3, .bars = {nothing, some}}, 309);
  ASSERT_EQ(attributes(drawing, "part compute", "width").size(), 1U);
  EXPECT_THAT(attributes(drawing, "part compute", "width"), ElementsAre(DoubleNear(300, 1.1)));
  EXPECT_THAT(drawing.body(), HasSubstr(">20</text>"));
  EXPECT_THAT(drawing.body(), Not(HasSubstr("nan")));
}

TEST(ReportLines, BreakWhereThereIsNoNumber) {
  const Series line{
      .name = "a", .style = "s1", .points = {{0, 1}, {1, 2}, {2, NAN}, {3, 4}, {4, 5}, {5, NAN}}};
  const Drawing drawing = line_chart({.x = {.title = "epoch", .low = 0, .high = 5},
                                      .y = {.title = "loss", .low = 0, .high = 5},
                                      .series = {line}},
                                     400);
  size_t lines = 0;
  for (size_t at = 0; (at = drawing.body().find("<polyline", at)) != std::string::npos; ++at) ++lines;
  EXPECT_EQ(lines, 2U);
  EXPECT_THAT(drawing.body(), Not(HasSubstr("nan")));
  EXPECT_THAT(drawing.body(), HasSubstr(">loss</text>"));
  EXPECT_THAT(drawing.body(), HasSubstr(">epoch</text>"));
  const Axis y = spanning_y({}, {line});
  EXPECT_DOUBLE_EQ(y.low, 1);
  EXPECT_DOUBLE_EQ(y.high, 5);
}

TEST(ReportLines, PanelsShareTheirAxes) {
  const Series one{.name = "one", .style = "s1", .points = {{0, 0}, {1, 1}}};
  const Series two{.name = "two", .style = "s2", .points = {{0, 1}, {2, 1}}};
  const Drawing drawing = panel_chart({.x = {.title = "time (s)", .low = 0, .high = 2},
                                       .y = {.title = "busy", .low = 0, .high = 1, .is_share = true},
                                       .series = {one, two},
                                       .height = 60},
                                      400);
  EXPECT_THAT(drawing.body(), HasSubstr(">one</text>"));
  EXPECT_THAT(drawing.body(), HasSubstr(">two</text>"));
  const std::regex end("line s1\" points=\"\\S+ ([0-9.]+),");
  std::smatch found;
  ASSERT_TRUE(std::regex_search(drawing.body(), found, end));
  const auto axis = attributes(drawing, "axis", "x1");
  ASSERT_FALSE(axis.empty());
  EXPECT_NEAR(std::stod(found[1]), (axis[0] + 390) / 2, 0.2);  // half of the time of the longer run
}

TEST(ReportHeatMap, ShadesGoFromTheLowestToTheHighest) {
  EXPECT_EQ(heat_style(1, 1, 6), "h0");
  EXPECT_EQ(heat_style(3.5, 1, 6), "h2");
  EXPECT_EQ(heat_style(6, 1, 6), "h4");
  EXPECT_EQ(heat_style(2, 2, 2), "h4");
  const HeatMap map{.x_title = "batch_size",
                    .y_title = "lr",
                    .xs = {"8", "16"},
                    .ys = {"0.1", "0.2"},
                    .rows = {{{1., "1.0"}, {100., "100"}}, {{10'000., "10,000"}, {{}, "-"}}},
                    .is_log = true};
  const Drawing drawing = heat_map(map, 300);
  for (const char* part : {"cell h0", "cell h2", "cell h4", "cell empty", ">10,000</text>",
                           ">batch_size</text>", ">lr</text>", "on-h4"}) {
    EXPECT_THAT(drawing.body(), HasSubstr(part));
  }
}

TEST(ReportParallel, ALineMeetsEachAxisAtItsPlace) {
  const ParallelChart chart{.axes = {{"lr", {{0, "0.1"}, {1, "0.2"}}}, {"top-1", {{0, "10%"}, {1, "90%"}}}},
                            .lines = {{.places = {0, 1}, .style = "s2", .name = "a"},
                                      {.places = {1, NAN}, .style = "muted", .name = "b"}}};
  const Drawing drawing = parallel_chart(chart, 448);
  EXPECT_THAT(drawing.body(), HasSubstr("line s2\" points=\"24,24 424,108\""));
  EXPECT_THAT(drawing.body(), HasSubstr("line muted\" points=\"424,24\""));
}

TEST(ReportPercentiles, StandWhereTheyBelong) {
  const PercentileRow row{
      .name = "run", .label = "20 ms", .p50 = 0.02, .p95 = 0.04, .p99 = 0.06, .longest = 0.1};
  const Drawing drawing = percentile_chart({.axis_title = "step (ms)", .unit = 1e-3, .rows = {row}}, 1009);
  EXPECT_THAT(attributes(drawing, "mark s1", "cx"), ElementsAre(201));
  EXPECT_THAT(attributes(drawing, "part s1", "width"), ElementsAre(200));
  EXPECT_THAT(attributes(drawing, "range", "x1"), ElementsAre(601));
  EXPECT_THAT(attributes(drawing, "open", "cx"), ElementsAre(1001));
}

TEST(ReportTimeline, SpansAreCutAtTheWindow) {
  const TimelineChart chart{
      .begin_s = 1,
      .end_s = 2,
      .tracks = {{"stream", {{0.5, 1.25, "step", "s1"}, {1.5, 9, "step", "s1"}, {2.5, 3, "step", "s1"}}}},
      .arrows = {}};
  const Drawing drawing = timeline_chart(chart, 1009);
  EXPECT_THAT(attributes(drawing, "part s1", "x"), ElementsAre(1, 501));
  EXPECT_THAT(attributes(drawing, "part s1", "width"), ElementsAre(249, 499));
  EXPECT_THAT(drawing.body(), HasSubstr("time (s)"));
}

TEST(ReportTimeline, ArrowsGoFromRowToRowWithinTheWindow) {
  const TimelineChart chart{
      .begin_s = 1,
      .end_s = 2,
      .tracks = {{"worker", {{0.5, 1.5, "read", "s1"}}}, {"stream", {{1.75, 2, "step", "s2"}}}},
      .arrows = {{{0, 0.5}, {0, 1.25}, {1, 1.75}}, {{0, 0.5}, {1, 1.75}}}};
  const Drawing drawing = timeline_chart(chart, 1009);
  // Rows are 40 pixels high, their spans' middles 29 below the upper edge at 4; the second arrow has one
  // point.
  EXPECT_THAT(drawing.body(), HasSubstr("points=\"251,29 751,69\""));
  EXPECT_THAT(drawing.body(), HasSubstr("points=\"746,64 751,69 746,74\""));  // the head
  EXPECT_THAT(attributes(drawing, "flow", "cx"), ElementsAre(251, 751));
}

}  // namespace
}  // namespace slipstream
