#include "models/resnet.h"

#include <ATen/ATen.h>
#include <ATen/autocast_mode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/error.h"

namespace slipstream {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;
using enum ResNet::Phase;

int64_t parameter_count(const ResNet& model) {
  int64_t count = 0;
  for (const auto& [name, parameter] : model.parameters()) count += parameter.numel();
  return count;
}

struct KnownArch {
  const char* name;
  int64_t parameters;  ///< as torchvision documents them, at 1000 classes
  size_t tensors;      ///< in the state dict: parameters and buffers
};

class ResNetArchTest : public testing::TestWithParam<KnownArch> {};

TEST_P(ResNetArchTest, HasTorchvisionsSize) {
  const ResNet model(GetParam().name, 1000, 1);
  EXPECT_EQ(parameter_count(model), GetParam().parameters);
  EXPECT_EQ(model.state_dict().size(), GetParam().tensors);
}

INSTANTIATE_TEST_SUITE_P(All, ResNetArchTest,
                         testing::Values(KnownArch{"resnet18", 11'689'512, 122},
                                         KnownArch{"resnet34", 21'797'672, 218},
                                         KnownArch{"resnet50", 25'557'032, 320},
                                         KnownArch{"resnet101", 44'549'160, 626},
                                         KnownArch{"resnet152", 60'192'808, 932}),
                         [](const auto& instance) { return std::string(instance.param.name); });

TEST(ResNetTest, ListsItsArchitectures) {
  EXPECT_THAT(resnet_archs(), ElementsAre("resnet18", "resnet34", "resnet50", "resnet101", "resnet152"));
}

TEST(ResNetTest, NamesTensorsAsTorchvisionDoes) {
  const StateDict state = ResNet("resnet50", 10, 1).state_dict();
  ASSERT_EQ(state.size(), 320);
  EXPECT_EQ(state.front().first, "conv1.weight");
  EXPECT_EQ(state[5].first, "bn1.num_batches_tracked");
  EXPECT_EQ(state.back().first, "fc.bias");
  const auto sizes_of = [&](const std::string& name) {
    for (const auto& [key, tensor] : state) {
      if (key == name) return tensor.sizes().vec();
    }
    return std::vector<int64_t>{-1};
  };
  EXPECT_THAT(sizes_of("layer1.0.conv1.weight"), ElementsAre(64, 64, 1, 1));
  EXPECT_THAT(sizes_of("layer2.0.conv2.weight"), ElementsAre(128, 128, 3, 3));
  EXPECT_THAT(sizes_of("layer3.5.conv3.weight"), ElementsAre(1024, 256, 1, 1));
  EXPECT_THAT(sizes_of("layer4.0.downsample.0.weight"), ElementsAre(2048, 1024, 1, 1));
  EXPECT_THAT(sizes_of("layer4.0.downsample.1.running_var"), ElementsAre(2048));
  EXPECT_THAT(sizes_of("layer4.1.downsample.0.weight"), ElementsAre(-1));
  EXPECT_THAT(sizes_of("fc.weight"), ElementsAre(10, 2048));
}

TEST(ResNetTest, RejectsUnknownArchitectureAndNoClasses) {
  EXPECT_THAT(
      [] { ResNet("resnet51", 10, 1); },
      ThrowsMessage<UsageError>(testing::AllOf(HasSubstr("'resnet51'"), HasSubstr("resnet50, resnet101"))));
  EXPECT_THAT([] { ResNet("resnet18", 0, 1); }, ThrowsMessage<UsageError>(HasSubstr("0 classes")));
}

TEST(ResNetTest, SeedDecidesTheWeightsAndNothingElseDoes) {
  const StateDict first = ResNet("resnet18", 10, 7).state_dict();
  at::rand({3});
  const StateDict second = ResNet("resnet18", 10, 7).state_dict();
  const StateDict other = ResNet("resnet18", 10, 8).state_dict();
  ASSERT_EQ(first.size(), 122);
  ASSERT_EQ(second.size(), 122);
  for (size_t i = 0; i < first.size(); ++i) {
    EXPECT_TRUE(at::equal(first[i].second, second[i].second)) << first[i].first;
  }
  EXPECT_FALSE(at::equal(first[0].second, other[0].second));
}

TEST(ResNetTest, LeavesTheDefaultGeneratorAlone) {
  at::manual_seed(5);
  const at::Tensor expected = at::rand({4});
  at::manual_seed(5);
  ResNet("resnet18", 10, 7);
  EXPECT_TRUE(at::equal(at::rand({4}), expected));
}

TEST(ResNetTest, MapsImagesToLogits) {
  const at::NoGradGuard no_grad;
  ResNet model("resnet50", 7, 1);
  EXPECT_THAT(model.forward(at::rand({2, 3, 64, 64}), kEvaluation).sizes().vec(), ElementsAre(2, 7));
  EXPECT_THAT(model.forward(at::rand({1, 3, 75, 53}), kEvaluation).sizes().vec(), ElementsAre(1, 7));
}

TEST(ResNetTest, CountsBatchesInTrainingOnlyAlsoAfterAMove) {
  const at::NoGradGuard no_grad;
  ResNet model("resnet18", 10, 1);
  const at::Tensor images = at::rand({2, 3, 32, 32});
  model.forward(images, kTraining);
  model.to(at::kCPU);
  model.forward(images, kTraining);
  model.forward(images, kEvaluation);
  int counters = 0;
  for (const auto& [name, tensor] : model.state_dict()) {
    if (!name.ends_with("num_batches_tracked")) continue;
    EXPECT_EQ(tensor.item<int64_t>(), 2) << name;
    ++counters;
  }
  EXPECT_EQ(counters, 20);
}

TEST(ResNetTest, TrainsUnderAutocastInChannelsLast) {
  ResNet model("resnet50", 10, 1);
  model.to_channels_last();
  const at::Tensor images = at::rand({2, 3, 64, 64}).contiguous(at::MemoryFormat::ChannelsLast);
  at::autocast::set_autocast_dtype(at::kCPU, at::kBFloat16);
  at::autocast::set_autocast_enabled(at::kCPU, true);
  const at::Tensor logits = model.forward(images, kTraining);
  at::autocast::set_autocast_enabled(at::kCPU, false);
  at::autocast::clear_cache();
  EXPECT_EQ(logits.scalar_type(), at::kBFloat16);
  at::cross_entropy_loss(logits.to(at::kFloat), at::tensor({1, 2}, at::kLong)).backward();
  int gradients = 0;
  for (const auto& [name, parameter] : model.parameters()) {
    ASSERT_TRUE(parameter.grad().defined()) << name;
    EXPECT_EQ(parameter.grad().scalar_type(), at::kFloat) << name;
    EXPECT_TRUE(parameter.grad().isfinite().all().item<bool>()) << name;
    ++gradients;
  }
  EXPECT_EQ(gradients, 161);
}

TEST(ToChannelsLastTest, KeepsValuesAndTensors) {
  const at::NoGradGuard no_grad;
  ResNet model("resnet18", 10, 1);
  const StateDict held = model.parameters();
  std::vector<at::Tensor> values;
  for (const auto& [name, parameter] : held) values.push_back(parameter.clone());
  const at::Tensor images = at::rand({2, 3, 64, 64});
  const at::Tensor expected = model.forward(images, kEvaluation);

  model.to_channels_last();

  int four_d = 0;
  const StateDict& now = model.parameters();
  ASSERT_EQ(now.size(), 62);
  for (size_t i = 0; i < now.size(); ++i) {
    const at::Tensor& parameter = now[i].second;
    EXPECT_TRUE(parameter.is_same(held[i].second));
    EXPECT_TRUE(at::equal(parameter, values[i]));
    if (parameter.dim() != 4) continue;
    EXPECT_TRUE(parameter.is_contiguous(at::MemoryFormat::ChannelsLast));
    ++four_d;
  }
  EXPECT_EQ(four_d, 20);
  const at::Tensor logits = model.forward(images.contiguous(at::MemoryFormat::ChannelsLast), kEvaluation);
  EXPECT_LE((logits - expected).abs().max().item<float>(), 1e-4 * expected.abs().max().item<float>());
}

// What training in bfloat16 makes: logits, and gradients by parameter in float32.
std::vector<at::Tensor> train_once(ResNet& model) {
  at::autocast::set_autocast_enabled(at::kCPU, true);
  at::autocast::set_autocast_dtype(at::kCPU, at::kBFloat16);
  const at::Tensor images = at::linspace(-1, 1, 4 * 3 * 32 * 32).sin().view({4, 3, 32, 32});
  model.refresh_casts();
  const at::Tensor logits = model.forward(images, kTraining);
  at::autocast::set_autocast_enabled(at::kCPU, false);
  at::autocast::clear_cache();
  logits.to(at::kFloat).square().sum().backward();
  std::vector<at::Tensor> made = {logits.detach()};
  for (size_t i = 0; i < model.parameters().size(); ++i) {
    const at::Tensor cast = model.casts().empty() ? at::Tensor() : model.casts()[i];
    made.push_back((cast.defined() ? cast : model.parameters()[i].second).grad().to(at::kFloat));
  }
  return made;
}

TEST(ResNetTest, TrainsOnKeptCastsAsAutocastDoes) {
  ResNet by_autocast("resnet50", 7, 1);
  ResNet by_casts("resnet50", 7, 1);
  by_casts.keep_casts(at::kBFloat16);
  {
    const at::NoGradGuard no_grad;  // the copies must follow the weights
    for (ResNet* model : {&by_autocast, &by_casts}) {
      for (const auto& [name, parameter] : model->parameters()) at::Tensor(parameter).mul_(1.25);
    }
  }
  const auto expected = train_once(by_autocast);
  const auto found = train_once(by_casts);
  ASSERT_EQ(found.size(), 162U);
  for (size_t i = 0; i < found.size(); ++i) EXPECT_TRUE(at::equal(found[i], expected[i])) << i;
  size_t casts = 0;
  for (const at::Tensor& cast : by_casts.casts()) casts += cast.defined() ? 1 : 0;
  EXPECT_EQ(casts, 55U);  // 53 convolutions, the classifier's weight and bias
}

}  // namespace
}  // namespace slipstream
