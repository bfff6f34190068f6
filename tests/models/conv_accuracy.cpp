#include "tests/models/conv_accuracy.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace slipstream::test {
namespace {

using at::Tensor;

double rms(const Tensor& found, const Tensor& exact) {
  return (found.to(at::kDouble) - exact).square().mean().sqrt().item<double>();
}

}  // namespace

Tensor random_on_gpu(at::IntArrayRef sizes, double scale, at::ScalarType type) {
  return (at::randn(sizes, at::TensorOptions(at::kCUDA)) * scale)
      .to(type)
      .contiguous(at::MemoryFormat::ChannelsLast);
}

void expect_no_worse(const char* what, const Tensor& ours, const Tensor& theirs, const Tensor& exact) {
  ASSERT_EQ(ours.sizes(), exact.sizes()) << what;
  const double scale = exact.square().mean().sqrt().item<double>();
  const double rounding = ours.scalar_type() == at::kHalf ? 0x1p-11 : 0x1p-8;
  EXPECT_LE(rms(ours, exact), 1.05 * rms(theirs, exact) + 0.01 * rounding * scale) << what;
}

}  // namespace slipstream::test
