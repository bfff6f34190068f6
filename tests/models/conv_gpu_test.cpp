// Convolutions by cuDNN's kernels of our choice: no further from float64 than PyTorch's in the same type.
#include <ATen/ATen.h>
#include <c10/cuda/CUDAFunctions.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "models/conv_kernels.h"
#include "models/norm_layers.h"
#include "tests/models/conv_accuracy.h"
#include "tests/support/test_support.h"

namespace slipstream {
namespace {

using at::Tensor;
using test::expect_no_worse;
using test::random_on_gpu;

struct Case {
  std::array<int64_t, 4> x, weight;
  int64_t stride, padding;
};

const Case kCases[] = {
    {{8, 4, 64, 64}, {64, 4, 7, 7}, 2, 3},      {{8, 64, 56, 56}, {256, 64, 1, 1}, 1, 0},
    {{8, 256, 56, 56}, {64, 256, 1, 1}, 1, 0},  {{8, 64, 28, 28}, {64, 64, 3, 3}, 1, 1},
    {{8, 128, 28, 28}, {128, 128, 3, 3}, 2, 1}, {{4, 256, 28, 28}, {512, 256, 1, 1}, 2, 0},
    {{2, 512, 7, 7}, {512, 512, 3, 3}, 1, 1},   {{1, 16, 5, 9}, {24, 16, 3, 3}, 1, 1},
    {{4, 3, 33, 33}, {64, 3, 7, 7}, 2, 3},      {{4, 64, 1, 1}, {128, 64, 3, 3}, 1, 1},
};

class ConvGpuTest : public testing::Test {
 protected:
  void SetUp() override {
    if (c10::cuda::device_count() == 0) GTEST_SKIP() << "this machine has no NVIDIA GPU";
    at::globalContext().setBenchmarkCuDNN(true);
  }
  void TearDown() override { at::globalContext().setBenchmarkCuDNN(false); }

  test::TemporaryFolder folder_;
  std::string file_ = (folder_.path() / "choices.json").string();
};

TEST_F(ConvGpuTest, AllPassesAreNoWorseThanPyTorchs) {
  at::manual_seed(1);
  const auto kernels = make_cudnn_conv_kernels("");
  for (const at::ScalarType type : {at::kHalf, at::kBFloat16}) {
    for (const Case& c : kCases) {
      const double fan_in = static_cast<double>(c.weight[1] * c.weight[2] * c.weight[3]);
      const Tensor x = random_on_gpu(c.x, 1, type);
      const Tensor weight = random_on_gpu(c.weight, std::sqrt(2 / fan_in), type);
      const ConvInput input{x, weight, c.stride, c.padding};
      SCOPED_TRACE(fmt::format("{} x {}", toString(type), fmt::join(c.x, "x")));
      ASSERT_TRUE(kernels->take(input));
      const Tensor y = kernels->forward(input, /*with_sums=*/false).y;
      const auto exact = [&](const Tensor& tensor) { return tensor.to(at::kDouble); };
      expect_no_worse("output", y, at::conv2d(x, weight, {}, c.stride, c.padding),
                      at::conv2d(exact(x), exact(weight), {}, c.stride, c.padding));
      const Tensor dy = random_on_gpu(y.sizes(), 1, type);
      const auto gradients = [&](const Tensor& to, const Tensor& of, const Tensor& with) {
        const std::array stride = {c.stride, c.stride};
        const std::array padding = {c.padding, c.padding};
        return at::convolution_backward(to, of, with, at::OptionalIntArrayRef(), stride, padding, {1, 1},
                                        /*transposed=*/false, {0, 0}, /*groups=*/1, {true, true, false});
      };
      const auto [their_dx, their_dw, none] = gradients(dy, x, weight);
      const auto [exact_dx, exact_dw, none_exact] = gradients(exact(dy), exact(x), exact(weight));
      expect_no_worse("data gradient", kernels->data_gradient(input, dy), their_dx, exact_dx);
      expect_no_worse("weight gradient", kernels->weight_gradient(input, dy), their_dw, exact_dw);
    }
  }
}

TEST_F(ConvGpuTest, SumsMadeInPassingAreThoseOfTheOutput) {
  at::manual_seed(2);
  const auto kernels = make_cudnn_conv_kernels("");
  int64_t with_sums = 0;
  for (const Case& c :
       {Case{{64, 64, 56, 56}, {256, 64, 1, 1}, 1, 0}, Case{{64, 64, 56, 56}, {64, 64, 3, 3}, 1, 1},
        Case{{8, 4, 64, 64}, {64, 4, 7, 7}, 2, 3}, Case{{64, 256, 56, 56}, {512, 256, 1, 1}, 2, 0}}) {
    SCOPED_TRACE(fmt::format("x {}", fmt::join(c.x, "x")));
    const double fan_in = static_cast<double>(c.weight[1] * c.weight[2] * c.weight[3]);
    const Tensor x = random_on_gpu(c.x, 1, at::kHalf) + 0.5;  // so that outputs have means
    const Tensor weight = random_on_gpu(c.weight, std::sqrt(2 / fan_in), at::kHalf);
    const auto [y, sums] = kernels->forward({x, weight, c.stride, c.padding}, /*with_sums=*/true);
    if (!sums.defined()) continue;  // this machine's norm pass was quicker
    ++with_sums;
    const Tensor values = y.to(at::kDouble).transpose(0, 1).flatten(1);
    const double rows = static_cast<double>(values.size(1));
    const auto largest = [](const Tensor& t) { return t.abs().max().item<double>(); };
    const Tensor squares = values.square().sum(1);
    // The kernel sums what it hasn't rounded yet.
    EXPECT_LE(largest(sums[0][0] - values.sum(1)) / rows, 1e-4);
    EXPECT_LE(largest((sums[0][1] - squares) / squares), 1e-3);
  }
  EXPECT_GT(with_sums, 0) << "a pass over 100 MB should never be free";
}

// A convolution, its norm and the ReLU by sums made in passing, against a pass of the norm's own.
TEST_F(ConvGpuTest, ANormBySumsIsThatByAPassOfItsOwn) {
  at::manual_seed(3);
  const auto kernels = make_cudnn_conv_kernels("");
  const Tensor x = random_on_gpu({64, 64, 56, 56}, 1, at::kHalf) + 0.25;
  const Tensor weight = random_on_gpu({256, 64, 1, 1}, 0.2, at::kHalf);
  const Convolved made = kernels->forward({x, weight, 1, 0}, /*with_sums=*/true);
  if (!made.sums.defined()) GTEST_SKIP() << "the norm's own pass is quicker on this GPU";
  const auto norm = [] {
    const at::TensorOptions gpu(at::kCUDA);
    return BatchNorm{.weight = at::ones({256}, gpu),
                     .bias = at::zeros({256}, gpu),
                     .running_mean = at::zeros({256}, gpu),
                     .running_var = at::ones({256}, gpu),
                     .arrivals = at::zeros({256}, gpu.dtype(at::kInt))};
  };
  const BatchNorm by_sums = norm();
  const BatchNorm by_pass = norm();
  const NormMode mode{.training = true, .fused = true};
  const Tensor y = norm_relu(made, by_sums, mode);
  const Tensor expected = norm_relu(made.y, by_pass, mode);
  EXPECT_LE((y - expected).abs().max().item<double>(), 4e-3);  // one rounding of a value near 4
  EXPECT_LE((y - expected).to(at::kFloat).square().mean().sqrt().item<double>(), 1e-4);
  EXPECT_TRUE(at::allclose(by_sums.running_mean, by_pass.running_mean, 1e-3, 1e-5));
  EXPECT_TRUE(at::allclose(by_sums.running_var, by_pass.running_var, 1e-3, 1e-5));
}

TEST_F(ConvGpuTest, ASecondProcessTriesNothing) {
  const Tensor x = random_on_gpu({8, 64, 28, 28}, 1, at::kBFloat16);
  const Tensor weight = random_on_gpu({64, 64, 3, 3}, 0.1, at::kBFloat16);
  const ConvInput input{x, weight, 1, 1};
  const auto all_passes = [&](ConvKernels& kernels) {
    const Tensor y = kernels.forward(input, /*with_sums=*/true).y;
    return std::array{y, kernels.data_gradient(input, y), kernels.weight_gradient(input, y)};
  };
  const auto first = make_cudnn_conv_kernels(file_);
  all_passes(*first);
  const int64_t tried = first->tried();
  EXPECT_GE(tried, 4);
  const auto again = all_passes(*first);
  EXPECT_EQ(first->tried(), tried) << "known sizes are tried anew";
  const auto second = make_cudnn_conv_kernels(file_);
  const auto found = all_passes(*second);
  EXPECT_EQ(second->tried(), 0);
  EXPECT_TRUE(at::equal(found[0], again[0])) << "another kernel was chosen";
  EXPECT_TRUE(at::equal(found[1], again[1])) << "another kernel was chosen";
}

TEST_F(ConvGpuTest, LeavesOtherTensorsAndSwitchesToPyTorch) {
  const auto kernels = make_cudnn_conv_kernels("");
  const Tensor x = random_on_gpu({2, 16, 8, 8}, 1, at::kHalf);
  const Tensor weight = random_on_gpu({16, 16, 3, 3}, 1, at::kHalf);
  EXPECT_TRUE(kernels->take({x, weight, 1, 1}));
  EXPECT_FALSE(kernels->take({x.to(at::kFloat), weight.to(at::kFloat), 1, 1}));
  EXPECT_FALSE(kernels->take({x.contiguous(), weight, 1, 1}));
  EXPECT_FALSE(kernels->take({x, weight.to(at::kFloat), 1, 1}));
  at::globalContext().setDeterministicCuDNN(true);
  EXPECT_FALSE(kernels->take({x, weight, 1, 1}));
  at::globalContext().setDeterministicCuDNN(false);
  at::globalContext().setBenchmarkCuDNN(false);
  EXPECT_FALSE(kernels->take({x, weight, 1, 1}));
}

}  // namespace
}  // namespace slipstream
