#include "app/input_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/records.h"

namespace slipstream {
namespace {

using testing::HasSubstr;
using testing::Not;

InputRate rate_of(const std::string& mode) {
  InputRate rate;
  rate.mode = mode;
  rate.decode = "cuda";
  rate.images = 2000;
  rate.wall_s = 0.5;
  rate.cpu_s = 1;
  rate.latency_p50_s = 0.025;
  rate.latency_p95_s = 0.03;
  rate.latency_p99_s = 0.035;
  rate.times.read_s = 0.25;
  rate.times.decode_s = 0.5;
  return rate;
}

TEST(InputTable, HasAColumnARate) {
  InputRate second = rate_of("overlapped");
  second.jpeg_util = 0.875;
  const std::string table = input_table({rate_of("serial"), second});
  EXPECT_THAT(table, HasSubstr("mode                   serial  overlapped\n"));
  EXPECT_THAT(table, HasSubstr("images/s                4,000       4,000\n"));
  EXPECT_THAT(table, HasSubstr("batch latency p99     35.0 ms     35.0 ms\n"));
  EXPECT_THAT(table, HasSubstr("read                  0.250 s     0.250 s\n"
                               "  an image             125 us      125 us\n"));
  EXPECT_THAT(table, HasSubstr("CPU s/1,000 images      0.500       0.500\n"));
  EXPECT_THAT(table, HasSubstr("cores in use            2.000       2.000\n"));
  EXPECT_THAT(table, HasSubstr("JPEG engines in use         -       87.5%\n"));
}

TEST(InputTable, SaysNothingAnImageWhereThereIsNone) {
  InputRate rate = rate_of("serial");
  rate.images = 0;
  EXPECT_THAT(input_table({rate}), Not(HasSubstr("inf")));
  EXPECT_TRUE(input_record(rate).at("cpu_s_per_1000_images").is_null());
}

TEST(InputRecord, HoldsWhatWasMeasured) {
  const Json record = input_record(rate_of("pinned"));
  EXPECT_EQ(record.at("mode"), "pinned");
  EXPECT_EQ(record.at("decode"), "cuda");
  EXPECT_EQ(record.at("images"), 2000);
  EXPECT_EQ(record.at("images_per_s"), 4000);
  EXPECT_EQ(record.at("latency_ms").at("p50"), 25);
  EXPECT_EQ(record.at("decode_s"), 0.5);
  EXPECT_EQ(record.at("cpu_s_per_1000_images"), 0.5);
  EXPECT_EQ(record.at("cores"), 2);
  EXPECT_TRUE(record.at("jpeg_util").is_null());
}

}  // namespace
}  // namespace slipstream
