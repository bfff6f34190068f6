#include "pipeline/compute_bench.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/kernel_summary.h"
#include "tests/pipeline/pipeline_fixture.h"

namespace slipstream {
namespace {

constexpr double kMicrosecond = 1e-6;
constexpr double kClose = 1e-12;

double sum_of_kinds(const KernelSummary& summary) {
  double sum = 0;
  for (const KernelSummary::Kind& kind : summary.kinds) sum += kind.seconds;
  return sum;
}

TEST(KernelSummary, AddsUpKindsAndGapsOfEachStep) {
  const KernelSummary summary = summarise({{"gemm", 30'000, 34'000},
                                           {"sm90_xmma_fprop", 10'000, 20'000},
                                           {"sm90_xmma_dgrad", 21'000, 30'000},
                                           {"sm90_xmma_fprop", 36'000, 44'000}},
                                          /*steps=*/2);
  EXPECT_NEAR(summary.of(KernelKind::kConvolution).seconds, 13.5 * kMicrosecond, kClose);
  EXPECT_EQ(summary.of(KernelKind::kConvolution).launches, 1.5);
  EXPECT_NEAR(summary.of(KernelKind::kMatrixProduct).seconds, 2 * kMicrosecond, kClose);
  EXPECT_EQ(summary.of(KernelKind::kNorm).launches, 0);
  EXPECT_NEAR(summary.idle_s, 1.5 * kMicrosecond, kClose);
  EXPECT_NEAR(summary.span_s, 17 * kMicrosecond, kClose);
  EXPECT_EQ(summary.launches(), 2);
}

// One kernel within another, one that begins in it, one at its heels.
TEST(KernelSummary, CountsConcurrentTimeOnce) {
  const KernelSummary summary = summarise({{"sm90_xmma_fprop", 0, 10'000},
                                           {"memset", 2'000, 4'000},
                                           {"bn_fw", 8'000, 15'000},
                                           {"pool", 15'000, 16'000},
                                           {"memcpy", 20'000, 21'000}},
                                          1);
  EXPECT_NEAR(summary.of(KernelKind::kConvolution).seconds, 10 * kMicrosecond, kClose);
  EXPECT_NEAR(summary.of(KernelKind::kNorm).seconds, 5 * kMicrosecond, kClose);
  EXPECT_NEAR(summary.of(KernelKind::kCopy).seconds, 1 * kMicrosecond, kClose);
  EXPECT_NEAR(summary.idle_s, 4 * kMicrosecond, kClose);
  EXPECT_NEAR(sum_of_kinds(summary) + summary.idle_s, summary.span_s, kClose);
  EXPECT_EQ(summary.launches(), 5);
}

TEST(KernelSummary, KeepsTheLongestKernelsInOrder) {
  const KernelSummary summary = summarise(
      {{"short", 0, 1'000}, {"twice", 2'000, 5'000}, {"twice", 6'000, 9'000}, {"long", 10'000, 15'000}}, 1,
      2);
  ASSERT_EQ(summary.longest.size(), 2U);
  EXPECT_EQ(summary.longest[0].name, "twice");
  EXPECT_NEAR(summary.longest[0].seconds, 6 * kMicrosecond, kClose);
  EXPECT_EQ(summary.longest[0].launches, 2);
  EXPECT_EQ(summary.longest[1].name, "long");
}

TEST(KernelSummary, OfNothingIsNothing) {
  const KernelSummary summary = summarise({}, 3);
  EXPECT_EQ(summary.span_s, 0);
  EXPECT_TRUE(summary.longest.empty());
}

TEST(ComputeBench, TimesWindowsAndTheStepsPartsOnTheCpu) {
  TrainOptions options = test::small_options("unused");
  options.data.clear();
  options.synthetic = true;
  const ComputeRate rate = measure_compute(resolve(options), {.steps = 2, .windows = 3});
  EXPECT_EQ(rate.steps, 2);
  ASSERT_EQ(rate.step_s.size(), 3U);
  EXPECT_THAT(rate.step_s, testing::Each(testing::Gt(0)));
  EXPECT_EQ(rate.images_per_s(), 8 / rate.median_step_s());
  ASSERT_TRUE(rate.parts);
  EXPECT_GT(rate.parts->forward_s, 0);
  EXPECT_GT(rate.parts->backward_s, 0);
  EXPECT_GT(rate.parts->optimizer_s, 0);
  EXPECT_FALSE(rate.traced);
  EXPECT_THAT(rate.why_not_traced, testing::HasSubstr("preset 'cuda'"));
  EXPECT_FALSE(rate.copy_bytes_per_s);
  EXPECT_FALSE(rate.peak_bytes);
  EXPECT_FALSE(rate.reserved_bytes);
}

}  // namespace
}  // namespace slipstream
