// The norms' CUDA kernels: no further from float64 than PyTorch's own operators in the same type.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "models/norm_layers.h"
#include "tests/models/norm_reference.h"

namespace slipstream {
namespace {

using test::Distance;
using test::NormCase;
using test::NormLayer;
using test::NormResults;

const c10::Device kGpu(c10::kCUDA, 0);
constexpr at::ScalarType kTypes[] = {at::kHalf, at::kBFloat16, at::kFloat};

struct Sizes {
  int64_t n, c, h, w;
};

class NormGpuTest : public testing::Test {
 protected:
  void SetUp() override {
    if (c10::cuda::device_count() == 0) GTEST_SKIP() << "this machine has no NVIDIA GPU";
  }
};

double epsilon_of(at::ScalarType type) {
  return type == at::kHalf ? 0x1p-11 : type == at::kBFloat16 ? 0x1p-8 : 0x1p-24;
}

// A result in a 16-bit type may be one rounding of its largest value further off at its worst element, since
// in small tensors the other's luck differs. Nor are few roundings what many are: the root mean square of n
// varies by 1 / sqrt(2 n) of itself, and three times that is allowed.
void expect_no_worse(const NormResults& ours, const NormResults& theirs, const NormResults& exact) {
  ASSERT_EQ(ours.size(), exact.size());
  ASSERT_EQ(theirs.size(), exact.size());
  for (size_t i = 0; i < exact.size(); ++i) {
    SCOPED_TRACE(exact[i].first);
    ASSERT_EQ(ours[i].first, exact[i].first);
    ASSERT_EQ(ours[i].second.scalar_type(), theirs[i].second.scalar_type());
    const double scale = exact[i].second.abs().max().item<double>();
    const Distance our = test::distance(ours[i].second, exact[i].second);
    const Distance their = test::distance(theirs[i].second, exact[i].second);
    const double rounding = epsilon_of(ours[i].second.scalar_type()) * scale;
    const double luck = 3 / std::sqrt(2.0 * static_cast<double>(exact[i].second.numel()));
    EXPECT_LE(our.rms, (1.05 + luck) * their.rms + 1e-6 * scale);
    EXPECT_LE(our.largest, (1.05 + luck) * their.largest + 1e-6 * scale + rounding);
  }
}

void expect_equal(const NormResults& found, const NormResults& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_TRUE(at::equal(found[i].second, expected[i].second)) << found[i].first;
  }
}

void check_layer(NormLayer layer, const Sizes& sizes, at::ScalarType type) {
  const auto [n, c, h, w] = sizes;
  SCOPED_TRACE(
      fmt::format("layer {}, {}x{}x{}x{} in {}", static_cast<int>(layer), n, c, h, w, at::toString(type)));
  const NormCase given = test::norm_case(layer, {n, c, h, w}, type, 11);
  const NormResults ours = test::run_layer(given, kGpu, /*fused=*/true);
  expect_no_worse(ours, test::run_layer(given, kGpu, /*fused=*/false), test::reference(given));
  expect_equal(test::run_layer(given, kGpu, /*fused=*/true), ours);
}

TEST_F(NormGpuTest, IsNoWorseThanPyTorchAndRepeatsInTheNetworksShapes) {
  for (const at::ScalarType type : kTypes) {
    check_layer(NormLayer::kNormReluMaxPool, {4, 64, 112, 112}, type);
    for (const Sizes& sizes : {Sizes{4, 64, 56, 56},
                               {4, 128, 56, 56},
                               {4, 128, 28, 28},
                               {4, 256, 28, 28},
                               {4, 256, 14, 14},
                               {4, 512, 14, 14},
                               {4, 512, 7, 7}}) {
      check_layer(NormLayer::kNormRelu, sizes, type);
    }
    for (const Sizes& sizes : {Sizes{4, 256, 56, 56}, {4, 512, 28, 28}, {4, 1024, 14, 14}, {4, 2048, 7, 7}}) {
      check_layer(NormLayer::kNormAddRelu, sizes, type);
      check_layer(NormLayer::kNormAddNormRelu, sizes, type);
    }
  }
}

TEST_F(NormGpuTest, IsNoWorseThanPyTorchAndRepeatsAtBatch256) {
  for (const at::ScalarType type : {at::kHalf, at::kBFloat16}) {
    check_layer(NormLayer::kNormRelu, {256, 64, 56, 56}, type);
    check_layer(NormLayer::kNormAddRelu, {256, 1024, 14, 14}, type);
    check_layer(NormLayer::kNormAddNormRelu, {256, 2048, 7, 7}, type);
  }
}

// Channels that don't fill vectors, tiles that reach beyond the last channel, fewer rows than a block has.
TEST_F(NormGpuTest, IsNoWorseThanPyTorchAndRepeatsInOddShapes) {
  for (const at::ScalarType type : kTypes) {
    for (const Sizes& sizes : {Sizes{7, 1, 1, 1},
                               {1, 3, 5, 4},
                               {5, 7, 1, 1},
                               {3, 13, 8, 9},
                               {2, 24, 31, 17},
                               {2, 200, 3, 3},
                               {1, 64, 2, 3},
                               {33, 8, 1, 1},
                               {2, 4096, 2, 2}}) {
      for (const NormLayer layer : test::kNormLayers) check_layer(layer, sizes, type);
    }
  }
}

TEST_F(NormGpuTest, AgreesWithTheCpu) {
  for (const NormLayer layer : test::kNormLayers) {
    const NormCase given = test::norm_case(layer, {3, 40, 15, 12}, at::kFloat, 5);
    const NormResults found = test::run_layer(given, kGpu, /*fused=*/true);
    const NormResults expected = test::run_layer(given, at::kCPU, /*fused=*/true);
    ASSERT_EQ(found.size(), expected.size());
    for (size_t i = 0; i < found.size(); ++i) {
      const double scale = 1 + expected[i].second.abs().max().item<double>();
      EXPECT_LE(test::distance(found[i].second, expected[i].second).largest, 2e-5 * scale) << found[i].first;
    }
  }
}

TEST_F(NormGpuTest, TakesEitherReadersGradientAlone) {
  for (const NormLayer layer : test::kNormLayers) {
    if (layer == NormLayer::kNormRelu) continue;
    NormCase given = test::norm_case(layer, {3, 40, 15, 12}, at::kHalf, 5);
    const at::Tensor first = std::exchange(given.first_gradient, at::Tensor());
    for (int reader = 0; reader < 2; ++reader) {
      expect_no_worse(test::run_layer(given, kGpu, /*fused=*/true),
                      test::run_layer(given, kGpu, /*fused=*/false), test::reference(given));
      given.first_gradient = first;
      given.second_gradient = at::Tensor();
    }
  }
}

TEST_F(NormGpuTest, LeavesOtherLayoutsToPyTorch) {
  for (const NormLayer layer : test::kNormLayers) {
    NormCase given = test::norm_case(layer, {3, 8, 6, 5}, at::kFloat, 5);
    given.x = given.x.contiguous();
    expect_equal(test::run_layer(given, kGpu, /*fused=*/true), test::run_layer(given, kGpu, /*fused=*/false));
  }
}

// A tensor that begins within another's vector, and a gradient that is one number for a whole plane.
TEST_F(NormGpuTest, TakesTensorsOffABoundaryAndExpandedGradients) {
  const NormCase given = test::norm_case(NormLayer::kNormRelu, {2, 16, 6, 5}, at::kHalf, 5);
  const auto gradients_of = [&](const at::Tensor& input) {
    const at::Tensor x = input.detach().requires_grad_();
    const BatchNorm norm{given.norm.weight.to(kGpu),
                         given.norm.bias.to(kGpu),
                         given.norm.running_mean.to(kGpu, at::kFloat, false, true),
                         given.norm.running_var.to(kGpu, at::kFloat, false, true),
                         {},
                         given.norm.arrivals.to(kGpu, at::kInt, false, true)};
    norm_relu(x, norm, {.training = true, .fused = true})
        .mean({2, 3})
        .to(at::kFloat)
        .square()
        .sum()
        .backward();
    EXPECT_EQ(norm.arrivals.abs().sum().item<int>(), 0);
    return x.grad();
  };
  const at::Tensor aligned = given.x.to(kGpu);
  const at::Tensor room = at::empty({aligned.numel() + 1}, aligned.options());
  const at::Tensor shifted = room.slice(0, 1).as_strided(aligned.sizes(), aligned.strides(), 1);
  shifted.copy_(aligned);
  EXPECT_TRUE(at::equal(gradients_of(shifted), gradients_of(aligned)));
  EXPECT_GT(gradients_of(aligned).abs().max().item<float>(), 0);
}

TEST_F(NormGpuTest, EvaluationIsNoWorseThanPyTorch) {
  const c10::NoGradGuard no_grad;
  for (const at::ScalarType type : kTypes) {
    const NormCase given = test::norm_case(NormLayer::kNormAddNormRelu, {2, 40, 9, 7}, type, 3);
    const auto output = [&](c10::Device device, at::ScalarType in, bool fused) {
      const auto norm = [&](const BatchNorm& from) {
        const at::ScalarType norm_type = in == at::kDouble ? at::kDouble : at::kFloat;
        return BatchNorm{from.weight.to(device, norm_type),
                         from.bias.to(device, norm_type),
                         from.running_mean.to(device, norm_type),
                         from.running_var.to(device, norm_type),
                         {},
                         from.arrivals.to(device)};
      };
      return norm_add_norm_relu(given.x.to(device, in), norm(given.norm), given.around.to(device, in),
                                norm(given.around_norm), {.training = false, .fused = fused})
          .first;
    };
    expect_no_worse({{"y", output(kGpu, type, true)}}, {{"y", output(kGpu, type, false)}},
                    {{"y", output(at::kCPU, at::kDouble, false)}});
  }
}

// A captured step, replayed, is the step: nothing in it belongs to the time of the capture.
TEST_F(NormGpuTest, CanBeCapturedInAGraph) {
  const NormCase given = test::norm_case(NormLayer::kNormAddRelu, {4, 64, 14, 14}, at::kHalf, 9);
  const NormCase other = test::norm_case(NormLayer::kNormAddRelu, {4, 64, 14, 14}, at::kHalf, 10);
  const c10::cuda::CUDAStream stream = c10::cuda::getStreamFromPool();
  const c10::cuda::CUDAStreamGuard guard(stream);
  const auto on_gpu = [](const at::Tensor& tensor) {
    return tensor.to(kGpu, tensor.scalar_type(), false, true);
  };
  const at::Tensor x = on_gpu(given.x).requires_grad_();
  const at::Tensor around = on_gpu(given.around).requires_grad_();
  const at::Tensor gradient = on_gpu(other.first_gradient);
  const BatchNorm norm{on_gpu(other.norm.weight),
                       on_gpu(other.norm.bias),
                       on_gpu(other.norm.running_mean),
                       on_gpu(other.norm.running_var),
                       {},
                       on_gpu(other.norm.arrivals)};
  const auto step = [&] {
    x.mutable_grad().reset();
    around.mutable_grad().reset();
    norm_add_relu(x, norm, around, {.training = true, .fused = true}).second.backward(gradient);
  };
  step();
  at::cuda::CUDAGraph graph;
  graph.capture_begin();
  step();
  graph.capture_end();
  {
    const c10::NoGradGuard no_grad;
    x.copy_(other.x);
    around.copy_(other.around);
    norm.running_mean.copy_(other.norm.running_mean);
    norm.running_var.copy_(other.norm.running_var);
  }
  for (int replay = 0; replay < 2; ++replay) graph.replay();
  const at::Tensor dx = x.grad().clone();
  const at::Tensor around_gradient = around.grad().clone();
  const at::Tensor running_mean = norm.running_mean.clone();
  norm.running_mean.copy_(other.norm.running_mean);
  step();
  step();
  EXPECT_TRUE(at::equal(x.grad(), dx));
  EXPECT_TRUE(at::equal(around.grad(), around_gradient));
  EXPECT_TRUE(at::equal(norm.running_mean, running_mean));
  EXPECT_GT(dx.abs().max().item<float>(), 0);
}

}  // namespace
}  // namespace slipstream
