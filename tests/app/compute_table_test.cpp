#include "app/compute_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/records.h"

namespace slipstream {
namespace {

using testing::HasSubstr;

ComputeRate rate_of_a_cpu() {
  ComputeRate rate;
  rate.batch_size = 256;
  rate.steps = 10;
  rate.step_s = {0.064, 0.032, 0.128};
  rate.parts = ComputeRate::Parts{0.016, 0.04, 0.008};
  rate.why_not_traced = "No GPU.";
  return rate;
}

ComputeRate rate_of_a_gpu() {
  ComputeRate rate = rate_of_a_cpu();
  rate.peak_bytes = 22'000'000'000;
  rate.reserved_bytes = 23'000'000'000;
  rate.copy_bytes_per_s = 4.25e12;
  rate.gpu.clock_mhz = 1841.6;
  rate.gpu.top_clock_mhz = 1980;
  rate.gpu.power_w = 698.2;
  rate.gpu.power_limited = 0.975;
  rate.traced =
      ComputeRate::Traced{0.065, summarise({{"void at::native::max_pool<c10::Half>(int)", 0, 15'000'000},
                                            {"sm90_xmma_fprop", 20'000'000, 60'000'000},
                                            {"sm90_xmma_fprop", 60'000'000, 65'000'000}},
                                           1)};
  return rate;
}

TEST(ComputeTable, ShowsTheMedianWindowAndTheParts) {
  const std::string table = compute_table(rate_of_a_cpu());
  EXPECT_THAT(table, HasSubstr("Median of 3 windows of 10 steps (2,000 to 8,000 images/s)."));
  EXPECT_THAT(table, HasSubstr("images/s        4,000\n"));
  EXPECT_THAT(table, HasSubstr("a step        64.0 ms\n"));
  EXPECT_THAT(table, HasSubstr("  backward    40.0 ms\n"));
  EXPECT_THAT(table, HasSubstr("No GPU."));
}

TEST(ComputeTable, ShowsKindsOfKernelsAndTheLongest) {
  const std::string table = compute_table(rate_of_a_gpu());
  EXPECT_THAT(table, HasSubstr("peak memory             22 GB\n  held for it           23 GB\n"));
  EXPECT_THAT(table, HasSubstr("memory's copy rate  4.25 TB/s\n"));
  EXPECT_THAT(table, HasSubstr("GPU's clock         1,842 MHz\n"));
  EXPECT_THAT(table, HasSubstr("  at most           1,980 MHz\n"));
  EXPECT_THAT(table, HasSubstr("  power                 698 W\n"));
  EXPECT_THAT(table, HasSubstr("  clock held down       97.5%\n"));
  EXPECT_THAT(table, HasSubstr("convolution      45.0 ms   69.2%         2\n"));
  EXPECT_THAT(table, HasSubstr("idle            5.000 ms    7.7%         -\n"));
  EXPECT_THAT(table, HasSubstr("which took 65.0 ms"));
  EXPECT_THAT(table,
              HasSubstr("  45.0 ms         2  sm90_xmma_fprop\n  15.0 ms         1  max_pool<Half>\n"));
}

TEST(ComputeRecord, HoldsWhatWasMeasured) {
  const Json record = compute_record(rate_of_a_gpu());
  EXPECT_EQ(record.at("images_per_s"), 4000);
  EXPECT_EQ(record.at("step_ms"), 64);
  EXPECT_EQ(record.at("gpu_clock_mhz"), 1841.6);
  EXPECT_EQ(record.at("gpu_power_limited"), 0.975);
  EXPECT_EQ(record.at("windows_ms"), Json({64, 32, 128}));
  EXPECT_EQ(record.at("parts_ms").at("forward"), 16);
  EXPECT_EQ(record.at("copy_bytes_per_s"), 4.25e12);
  const Json& traced = record.at("traced");
  EXPECT_EQ(traced.at("step_ms"), 65);
  EXPECT_NEAR(traced.at("span_ms").get<double>(), 65, 1e-9);
  EXPECT_NEAR(traced.at("kinds").at("convolution").at("ms").get<double>(), 45, 1e-9);
  EXPECT_EQ(traced.at("kinds").at("convolution").at("launches"), 2);
  EXPECT_EQ(traced.at("kinds").size(), kKernelKinds.size());
  EXPECT_EQ(traced.at("longest").at(1).at("kind"), "pooling");
  EXPECT_TRUE(compute_record(rate_of_a_cpu()).at("traced").is_null());
}

}  // namespace
}  // namespace slipstream
