#include "models/average_pool.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

namespace slipstream {
namespace {

using at::Tensor;

TEST(AveragePool, IsLibTorchsToTheBitWithItsGradientInTheInputsLayout) {
  at::manual_seed(1);
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16}) {
    for (const auto format : {at::MemoryFormat::Contiguous, at::MemoryFormat::ChannelsLast}) {
      for (const auto& [count, channels, height, width] :
           {std::tuple(3, 40, 7, 7), std::tuple(1, 5, 2, 3), std::tuple(2, 8, 1, 1)}) {
        SCOPED_TRACE(fmt::format("{} {}x{}x{}x{}", toString(type), count, channels, height, width));
        const Tensor given = at::randn({count, channels, height, width}).to(type).contiguous(format);
        const Tensor dy = at::randn({count, channels}).to(type);
        const Tensor x = given.clone(format).set_requires_grad(true);
        const Tensor pooled = average_pool(x);
        pooled.backward(dy);
        const Tensor theirs = given.clone(format).set_requires_grad(true);
        const Tensor expected = at::adaptive_avg_pool2d(theirs, {1, 1}).flatten(1);
        expected.backward(dy);
        EXPECT_TRUE(at::equal(pooled, expected));
        EXPECT_TRUE(at::equal(x.grad(), theirs.grad()));
        EXPECT_TRUE(x.grad().is_contiguous(format));
        EXPECT_EQ(x.grad().scalar_type(), type);
      }
    }
  }
}

}  // namespace
}  // namespace slipstream
