#include "pipeline/train_step.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include "pipeline/compute_setup.h"
#include "tests/pipeline/pipeline_fixture.h"

namespace slipstream {
namespace {

constexpr int64_t kClasses = 4;
constexpr int64_t kImages = 8;
constexpr double kLr = 1e-3;  // little, or rounding grows from step to step

TrainOptions step_options(int64_t grad_accum_steps, Amp amp = Amp::kOff) {
  TrainOptions options = test::small_options("unused");
  options.data.clear();
  options.synthetic = true;
  options.grad_accum_steps = grad_accum_steps;
  options.amp = amp;
  options.label_smoothing = 0.1;
  return options;
}

// A network and its step, the same for equal options.
struct Training {
  explicit Training(const TrainOptions& options)
      : setup(resolve(options)), model(make_model(setup, kClasses)), step(model, setup) {}

  std::vector<at::Tensor> weights() const {
    std::vector<at::Tensor> copies;
    for (const auto& [name, parameter] : model.parameters()) copies.push_back(parameter.detach().clone());
    return copies;
  }

  TrainSetup setup;
  ResNet model;
  TrainStep step;
};

Batch random_batch(const TrainSetup& setup, uint64_t seed) {
  at::manual_seed(seed);
  Batch batch;
  batch.images = at::randn({kImages, 3, 32, 32}).to(setup.compute_type());
  batch.labels = at::randint(kClasses, {kImages}, at::kLong);
  batch.count = kImages;
  return batch;
}

void expect_equal(const std::vector<at::Tensor>& found, const std::vector<at::Tensor>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) EXPECT_TRUE(at::equal(found[i], expected[i])) << i;
}

// SGD as torch.optim.SGD has it, by autograd's own sums of gradients.
class Reference {
 public:
  explicit Reference(const TrainOptions& options)
      : options_(options), model_(make_model(resolve(options), kClasses)) {
    for (const auto& [name, parameter] : model_.parameters()) momenta_.push_back(at::zeros_like(parameter));
  }

  void run(const std::vector<Batch>& batches) {
    for (const Batch& batch : batches) {
      const at::Tensor logits = model_.forward(batch.images, ResNet::Phase::kTraining);
      at::cross_entropy_loss(logits, batch.labels, {}, at::Reduction::Mean, kIgnoredLabel,
                             options_.label_smoothing)
          .backward();
    }
    const at::NoGradGuard no_grad;
    size_t i = 0;
    for (const auto& [name, parameter] : model_.parameters()) {
      at::Tensor& momentum = momenta_[i++];
      const at::Tensor mean = parameter.grad() / static_cast<double>(batches.size());
      momentum = options_.momentum * momentum + mean + options_.weight_decay * parameter;
      parameter.sub_(kLr * momentum);
      parameter.mutable_grad().reset();
    }
  }

  // That the weights have come to the reference's from `before`, but for a thousandth of the way.
  void expect_near(const std::vector<at::Tensor>& weights, const std::vector<at::Tensor>& before) const {
    size_t i = 0;
    for (const auto& [name, parameter] : model_.parameters()) {
      const double way = (parameter - before[i]).abs().max().item<double>();
      EXPECT_GT(way, 1e-6) << name;
      EXPECT_LE((weights[i] - parameter).abs().max().item<double>(), 1e-3 * way + 2.4e-7) << name;
      ++i;
    }
  }

 private:
  TrainOptions options_;
  ResNet model_;
  std::vector<at::Tensor> momenta_;
};

TEST(TrainStep, StepsByTheMeanGradientOfAGroupOfBatches) {
  const TrainOptions options = step_options(3);
  Training training(options);
  Reference reference(options);
  for (uint64_t group = 0; group < 2; ++group) {
    const std::vector<at::Tensor> before = training.weights();
    std::vector<Batch> batches;
    for (uint64_t i = 0; i < 3; ++i) {
      expect_equal(training.weights(), before);
      batches.push_back(random_batch(training.setup, 3 * group + i));
      training.step.run(batches.back(), kLr);
    }
    reference.run(batches);
    reference.expect_near(training.weights(), before);
  }
}

// Halves of a power of two's share are exact, so two equal batches train as one does, to the bit.
TEST(TrainStep, TrainsByTwoEqualBatchesAsByOneToTheBit) {
  for (const Amp amp : {Amp::kOff, Amp::kBf16}) {
    Training one(step_options(1, amp));
    Training two(step_options(2, amp));
    for (uint64_t seed = 0; seed < 2; ++seed) {
      const Batch batch = random_batch(one.setup, seed);
      const at::Tensor expected = one.step.run(batch, kLr);
      EXPECT_TRUE(at::equal(two.step.run(batch, kLr), expected));
      EXPECT_TRUE(at::equal(two.step.run(batch, kLr), expected)) << "nothing was learned in between";
      expect_equal(two.weights(), one.weights());
    }
  }
}

// A batch whose gradients overflow spoils its group, and only that.
TEST(TrainStep, LeavesOutAGroupThatOverflows) {
  Training training(step_options(2, Amp::kFp16));
  const std::vector<at::Tensor> before = training.weights();
  Batch huge = random_batch(training.setup, 0);
  huge.images = huge.images * 60000;
  const auto scale = [&] { return training.step.run(random_batch(training.setup, 1), kLr)[2].item<float>(); };
  training.step.run(huge, kLr);
  EXPECT_EQ(scale(), 65536);
  expect_equal(training.weights(), before);
  EXPECT_EQ(scale(), 32768);
  EXPECT_EQ(scale(), 32768);
  EXPECT_FALSE(at::equal(training.weights()[0], before[0]));
}

TEST(TrainStep, LeavesNoTraceOfTiming) {
  Training plain(step_options(2));
  Training timed(step_options(2));
  const Batch batch = random_batch(plain.setup, 0);
  SyntheticSource batches(plain.setup.loader_options(c10::Stream(c10::Stream::DEFAULT, c10::kCPU)), kClasses);
  EXPECT_GT(timed.step.time_alone(batches, 0.01), 0);
  for (int i = 0; i < 4; ++i) {
    EXPECT_TRUE(at::equal(timed.step.run(batch, kLr), plain.step.run(batch, kLr))) << i;
  }
  expect_equal(timed.weights(), plain.weights());
}

}  // namespace
}  // namespace slipstream
