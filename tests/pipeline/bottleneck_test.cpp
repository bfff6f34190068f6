#include "pipeline/bottleneck.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slipstream {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

TrainSetup setup(Mode mode, c10::Device device = c10::kCPU) {
  TrainOptions options;
  options.mode = mode;
  options.workers = 4;
  return {options, device};
}

// Read, decode, resize, copy, compute, wait.
StageTimes times(double read, double decode, double resize, double h2d, double compute, double wait) {
  return {read, decode, resize, h2d, compute, wait, 0};
}

TEST(Bottleneck, SharesTheHostsWorkAmongItsThreads) {
  const StageTimes spent = times(1, 6, 1, 0.5, 9, 1);
  EXPECT_DOUBLE_EQ(input_seconds(spent, setup(Mode::kSerial)), 8.5);
  EXPECT_DOUBLE_EQ(input_seconds(spent, setup(Mode::kOverlapped)), 2.5);
  EXPECT_DOUBLE_EQ(hidden_share(spent, setup(Mode::kOverlapped)), 0.6);
  StageTimes on_device = spent;
  on_device.device_input_s = 4;  // of decoding
  EXPECT_DOUBLE_EQ(input_seconds(on_device, setup(Mode::kOverlapped)), 4.0 / 4 + 4 + 0.5);
}

TEST(Bottleneck, HidesBetweenNothingAndAll) {
  EXPECT_DOUBLE_EQ(hidden_share(times(1, 1, 1, 0, 9, 50), setup(Mode::kSerial)), 0);
  EXPECT_DOUBLE_EQ(hidden_share(times(1, 1, 1, 0, 9, 0), setup(Mode::kOverlapped)), 1);
  EXPECT_DOUBLE_EQ(hidden_share(times(0, 0, 0, 0, 9, 0), setup(Mode::kOverlapped)), 1);
}

TEST(Bottleneck, NamesComputeWhenTheInputIsHidden) {
  EXPECT_THAT(bottleneck(times(0, 4, 0, 0, 10, 0.1), 10.1, setup(Mode::kOverlapped)),
              AllOf(StartsWith("Compute-bound: the input is hidden to 90.0%"), HasSubstr("--channels-last")));
  EXPECT_THAT(bottleneck(times(0, 0.1, 0, 0, 10, 0.1), 10.1, setup(Mode::kSerial)),
              StartsWith("Compute-bound: compute waits for data 1.0% of the time"));
  EXPECT_THAT(bottleneck(times(0, 4, 0, 0, 10, 0.1), 10.1, setup(Mode::kOverlapped, c10::kCUDA)),
              HasSubstr("--amp fp16"));
}

TEST(Bottleneck, SaysWhereThePowerLimitHoldsTheClockDown) {
  const auto sentence = [](double limited) {
    GpuUse gpu;
    gpu.clock_mhz = 1842.4;
    gpu.top_clock_mhz = 1980;
    gpu.power_limited = limited;
    return bottleneck(times(0, 4, 0, 0, 10, 0.1), 10.1, setup(Mode::kOverlapped, c10::kCUDA), gpu);
  };
  EXPECT_THAT(sentence(0.9),
              StartsWith("Compute-bound (its power limit holds the GPU's clock at 1842 of 1980 "
                         "MHz): the input is hidden to "));
  EXPECT_THAT(sentence(0.1), StartsWith("Compute-bound: "));
  TrainSetup synthetic = setup(Mode::kOverlapped, c10::kCUDA);
  synthetic.options.synthetic = true;
  EXPECT_THAT(bottleneck(times(0, 0, 0, 0, 10, 0), 10, synthetic),
              StartsWith("Compute-bound by design (no input); try "));
}

TEST(Bottleneck, NamesTheSlowestStageAndTheOptionToTry) {
  EXPECT_THAT(bottleneck(times(1, 5, 2, 0, 4, 8), 12, setup(Mode::kSerial)),
              AllOf(HasSubstr("waits for data 67% of the time"), HasSubstr("is decoding"),
                    HasSubstr("--mode overlapped")));
  EXPECT_THAT(bottleneck(times(1, 50, 2, 0, 4, 8), 12, setup(Mode::kOverlapped, c10::kCUDA)),
              HasSubstr("--decode cuda"));
  EXPECT_THAT(bottleneck(times(90, 50, 2, 0, 4, 8), 12, setup(Mode::kOverlapped)), HasSubstr("is reading"));
}

}  // namespace
}  // namespace slipstream
