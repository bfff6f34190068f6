#include <ATen/ATen.h>
#include <c10/cuda/CUDAFunctions.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "models/cross_entropy.h"

namespace slipstream {
namespace {

using at::Tensor;

class CrossEntropyGpuTest : public testing::Test {
 protected:
  void SetUp() override {
    if (c10::cuda::device_count() == 0) GTEST_SKIP() << "this machine has no NVIDIA GPU";
  }
};

// Loss, right guesses and the gradient of 3 times the loss, with the logits' gradient in their type.
struct Results {
  double loss, right;
  Tensor gradient;
};

Results ours(const Tensor& logits, const Tensor& labels, double smoothing) {
  const Tensor leaf = logits.detach().clone().set_requires_grad(true);
  const CrossEntropy made = cross_entropy(leaf, labels, smoothing);
  (made.loss * 3).backward();
  EXPECT_FALSE(made.right.requires_grad());
  return {made.loss.item<double>(), made.right.item<double>(), leaf.grad()};
}

Results exact(const Tensor& logits, const Tensor& labels, double smoothing) {
  const Tensor leaf = logits.detach().to(at::kDouble).set_requires_grad(true);
  const Tensor loss = at::cross_entropy_loss(leaf, labels, {}, at::Reduction::Mean, kIgnoredLabel, smoothing);
  (loss * 3).backward();
  return {loss.item<double>(), leaf.detach().argmax(1).eq(labels).sum().item<double>(), leaf.grad()};
}

TEST_F(CrossEntropyGpuTest, IsThatOfFloat64InEveryTypeAndSize) {
  at::manual_seed(1);
  for (const at::ScalarType type : {at::kFloat, at::kHalf, at::kBFloat16}) {
    for (const auto& [count, classes] :
         {std::pair(256, 1000), std::pair(3, 10), std::pair(1, 1), std::pair(300, 257)}) {
      for (const double smoothing : {0.0, 0.1}) {
        SCOPED_TRACE(testing::Message()
                     << toString(type) << ' ' << count << 'x' << classes << ' ' << smoothing);
        const Tensor logits = (at::randn({count, classes}, at::TensorOptions(at::kCUDA)) * 4).to(type);
        Tensor labels = at::randint(classes, {count}, at::TensorOptions(at::kLong).device(at::kCUDA));
        if (count > 2) labels[1] = kIgnoredLabel;
        labels[0] = logits[0].argmax();
        const Results our = ours(logits, labels, smoothing);
        const Results expected = exact(logits, labels, smoothing);
        EXPECT_NEAR(our.loss, expected.loss, 1e-6 * (1 + expected.loss));
        EXPECT_EQ(our.right, expected.right);
        ASSERT_EQ(our.gradient.scalar_type(), type);
        const double rounding = type == at::kFloat ? 1e-6 : type == at::kHalf ? 0x1p-11 : 0x1p-8;
        const Tensor error = (our.gradient.to(at::kDouble) - expected.gradient).abs();
        // A gradient is a difference from a target, up to 3 over all samples; float16's smallest numbers are
        // 2^-24 apart.
        const double scale = 3.0 / static_cast<double>(count);
        EXPECT_TRUE((error <= rounding * expected.gradient.abs() + 4e-6 * scale + 0x1p-25).all().item<bool>())
            << error.max().item<double>();
      }
    }
  }
}

TEST_F(CrossEntropyGpuTest, GuessesTheFirstOfEqualLogits) {
  const Tensor logits = at::zeros({2, 5}, at::TensorOptions(at::kCUDA));
  const Tensor labels = at::zeros({2}, at::TensorOptions(at::kLong).device(at::kCUDA));
  labels[1] = 4;
  const CrossEntropy made = cross_entropy(logits, labels, 0);
  EXPECT_EQ(made.right.item<float>(), 1);
  EXPECT_FLOAT_EQ(made.loss.item<float>(), std::log(5.0F));
}

TEST_F(CrossEntropyGpuTest, OfAnImpossibleClassIsThatOfTheOthers) {
  Tensor logits = at::zeros({1, 3}, at::TensorOptions(at::kCUDA));
  logits[0][2] = -std::numeric_limits<float>::infinity();
  const Tensor labels = at::zeros({1}, at::TensorOptions(at::kLong).device(at::kCUDA));
  const Results made = ours(logits, labels, 0);
  EXPECT_NEAR(made.loss, std::log(2.0), 1e-6);
  EXPECT_NEAR(made.gradient[0][0].item<float>(), -1.5, 1e-6);
  EXPECT_EQ(made.gradient[0][2].item<float>(), 0);
}

TEST_F(CrossEntropyGpuTest, IsNoNumberWithoutLabelsOrWithBadLogits) {
  Tensor logits = at::rand({4, 7}, at::TensorOptions(at::kCUDA));
  const Tensor none = at::full({4}, kIgnoredLabel, at::TensorOptions(at::kLong).device(at::kCUDA));
  const Results unlabelled = ours(logits, none, 0.1);
  EXPECT_TRUE(std::isnan(unlabelled.loss));
  EXPECT_EQ(unlabelled.right, 0);
  EXPECT_EQ(unlabelled.gradient.count_nonzero().item<int64_t>(), 0);
  logits[2][3] = std::nanf("");
  EXPECT_TRUE(std::isnan(cross_entropy(logits, at::zeros_like(none), 0).loss.item<float>()));
}

TEST_F(CrossEntropyGpuTest, GivesTheSameBitsEveryTime) {
  const Tensor logits = at::randn({1000, 1000}, at::TensorOptions(at::kCUDA)).to(at::kHalf);
  const Tensor labels = at::randint(1000, {1000}, at::TensorOptions(at::kLong).device(at::kCUDA));
  const Results first = ours(logits, labels, 0.1);
  for (int i = 0; i < 10; ++i) {
    const Results again = ours(logits, labels, 0.1);
    EXPECT_EQ(again.loss, first.loss);
    EXPECT_TRUE(at::equal(again.gradient, first.gradient));
  }
}

}  // namespace
}  // namespace slipstream
