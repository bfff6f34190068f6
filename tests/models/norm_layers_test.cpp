#include "models/norm_layers.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/error.h"
#include "models/resnet.h"
#include "tests/models/norm_reference.h"

namespace slipstream {
namespace {

using test::NormCase;
using test::NormLayer;
using test::NormResults;

constexpr NormMode kFused{.training = true, .fused = true};

void expect_near(const NormResults& found, const NormResults& expected, double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(found[i].first, expected[i].first);
    ASSERT_EQ(found[i].second.sizes(), expected[i].second.sizes()) << found[i].first;
    const double scale = 1 + expected[i].second.to(at::kDouble).abs().max().item<double>();
    EXPECT_LE(test::distance(found[i].second, expected[i].second).largest, tolerance * scale)
        << found[i].first;
  }
}

struct Sizes {
  int64_t n, c, h, w;
};

std::string name(const Sizes& sizes) {
  return fmt::format("N{}C{}H{}W{}", sizes.n, sizes.c, sizes.h, sizes.w);
}

class NormLayersTest : public testing::TestWithParam<Sizes> {
 protected:
  static NormCase make(NormLayer layer) {
    const auto [n, c, h, w] = GetParam();
    return test::norm_case(layer, {n, c, h, w}, at::kFloat, 7);
  }
};

TEST_P(NormLayersTest, GivesTheFormulasOutputGradientsAndStatistics) {
  for (const NormLayer layer : test::kNormLayers) {
    SCOPED_TRACE(static_cast<int>(layer));
    const NormCase given = make(layer);
    expect_near(test::run_layer(given, at::kCPU, /*fused=*/true), test::reference(given), 5e-5);
  }
}

TEST_P(NormLayersTest, AddsUpWhicheverReadersGradientsThereAre) {
  for (const NormLayer layer : test::kNormLayers) {
    if (layer == NormLayer::kNormRelu) continue;
    SCOPED_TRACE(static_cast<int>(layer));
    NormCase given = make(layer);
    const at::Tensor first = std::exchange(given.first_gradient, {});
    expect_near(test::run_layer(given, at::kCPU, /*fused=*/true), test::reference(given), 5e-5);
    given.first_gradient = first;
    given.second_gradient = at::Tensor();
    expect_near(test::run_layer(given, at::kCPU, /*fused=*/true), test::reference(given), 5e-5);
  }
}

TEST_P(NormLayersTest, AgreesWithTheSeparateOperators) {
  for (const NormLayer layer : test::kNormLayers) {
    SCOPED_TRACE(static_cast<int>(layer));
    const NormCase given = make(layer);
    expect_near(test::run_layer(given, at::kCPU, /*fused=*/true),
                test::run_layer(given, at::kCPU, /*fused=*/false), 2e-6);
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, NormLayersTest,
                         testing::Values(Sizes{6, 1, 1, 1}, Sizes{1, 3, 5, 4}, Sizes{5, 7, 1, 1},
                                         Sizes{3, 13, 8, 9}, Sizes{2, 64, 14, 14}, Sizes{4, 16, 7, 5}),
                         [](const auto& shape) { return name(shape.param); });

TEST(NormLayersErrorTest, RefuseToTrainOnOneValueAChannel) {
  const NormCase given = test::norm_case(NormLayer::kNormRelu, {1, 8, 1, 1}, at::kFloat, 1);
  for (const bool fused : {true, false}) {
    EXPECT_THAT([&] { norm_relu(given.x, given.norm, {.training = true, .fused = fused}); },
                testing::ThrowsMessage<Error>(testing::HasSubstr("larger --batch-size or --image-size")));
  }
  const c10::NoGradGuard no_grad;
  EXPECT_EQ(norm_relu(given.x, given.norm, {.training = false, .fused = true}).numel(), 8);
}

TEST(NormLayersEvaluationTest, NormalisesByTheRunningStatisticsAndLeavesThem) {
  const NormCase given = test::norm_case(NormLayer::kNormAddNormRelu, {2, 5, 4, 3}, at::kFloat, 3);
  const auto normalised = [](const at::Tensor& x, const BatchNorm& norm) {
    const auto wide = [](const at::Tensor& t) { return t.to(at::kDouble).view({1, -1, 1, 1}); };
    return (x.to(at::kDouble) - wide(norm.running_mean)) / (wide(norm.running_var) + 1e-5).sqrt() *
               wide(norm.weight) +
           wide(norm.bias);
  };
  const at::Tensor expected =
      (normalised(given.x, given.norm) + normalised(given.around, given.around_norm)).clamp_min(0);
  const at::Tensor running_var = given.norm.running_var.clone();
  for (const bool gradients : {true, false}) {
    const c10::AutoGradMode mode(gradients);
    const Twice y = norm_add_norm_relu(given.x, given.norm, given.around, given.around_norm,
                                       {.training = false, .fused = true});
    EXPECT_LE(test::distance(y.first, expected).largest, 1e-5);
    EXPECT_TRUE(at::equal(y.first, y.second));
  }
  EXPECT_TRUE(at::equal(given.norm.running_var, running_var));
}

TEST(NormLayersAliasTest, ReadersShareTheMemoryAndNotTheGradient) {
  const NormCase given = test::norm_case(NormLayer::kNormAddRelu, {2, 8, 3, 3}, at::kFloat, 3);
  const at::Tensor x = given.x.clone().requires_grad_();
  const Twice y = norm_add_relu(x, given.norm, given.around, kFused);
  EXPECT_EQ(y.first.const_data_ptr(), y.second.const_data_ptr());
  EXPECT_TRUE(y.first.requires_grad() && y.second.requires_grad());
  EXPECT_EQ(y.first.grad_fn(), y.second.grad_fn());
  EXPECT_NE(y.first.output_nr(), y.second.output_nr());
}

// The layers as the network joins them: logits, gradients and statistics of a whole step.
TEST(FusedResNetTest, AgreesWithTheSeparateOperators) {
  ResNet fused("resnet18", 10, 3);
  ResNet separate("resnet18", 10, 3, Norms::kSeparate);
  const at::Tensor images = at::randn({3, 3, 37, 33}).contiguous(at::MemoryFormat::ChannelsLast);
  const at::Tensor labels = at::tensor({1, 2, 3}, at::kLong);
  std::vector<at::Tensor> logits;
  for (ResNet* model : {&fused, &separate}) {
    model->to_channels_last();
    logits.push_back(model->forward(images, ResNet::Phase::kTraining));
    at::cross_entropy_loss(logits.back(), labels).backward();
  }
  EXPECT_LE(test::distance(logits[0], logits[1]).largest, 1e-5);
  ASSERT_EQ(fused.parameters().size(), separate.parameters().size());
  for (size_t i = 0; i < fused.parameters().size(); ++i) {
    const auto& [name, parameter] = fused.parameters()[i];
    const at::Tensor expected = separate.parameters()[i].second.grad();
    EXPECT_LE(test::distance(parameter.grad(), expected).largest,
              1e-4 * expected.abs().max().item<double>() + 1e-6)
        << name;
  }
  const StateDict fused_state = fused.state_dict();
  const StateDict separate_state = separate.state_dict();
  for (size_t i = 0; i < fused_state.size(); ++i) {
    EXPECT_LE(test::distance(fused_state[i].second, separate_state[i].second).largest, 1e-5)
        << fused_state[i].first;
  }
}

}  // namespace
}  // namespace slipstream
