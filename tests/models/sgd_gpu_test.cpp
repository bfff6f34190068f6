// The optimizer's CUDA kernel against float64.
#include <ATen/ATen.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>
#include <gtest/gtest.h>

#include <limits>

#include "models/fused_sgd.h"

namespace slipstream {
namespace {

const c10::Device kGpu(c10::kCUDA, 0);
constexpr double kLr = 0.1;
constexpr double kMomentum = 0.9;
constexpr double kDecay = 1e-2;
constexpr double kScale = 1024;

class SgdGpuTest : public testing::TestWithParam<at::ScalarType> {
 protected:
  void SetUp() override {
    if (c10::cuda::device_count() == 0) GTEST_SKIP() << "this machine has no NVIDIA GPU";
  }

  static at::Tensor random(at::IntArrayRef sizes, at::ScalarType type = at::kFloat) {
    const at::Tensor values = at::randn(sizes, at::TensorOptions(kGpu)).to(type);
    return sizes.size() == 4 ? values.contiguous(at::MemoryFormat::ChannelsLast) : values;
  }

  // Weights with casts of the type, some without, as norms' are, and one whose gradient is exact, as sums
  // are.
  static std::vector<SgdTensors> parameters() {
    std::vector<SgdTensors> all;
    for (const std::vector<int64_t>& sizes : std::vector<std::vector<int64_t>>{
             {1}, {3}, {10}, {1000, 7}, {64, 3, 7, 7}, {128, 64, 1, 1}, {40961}}) {
      const at::Tensor cast = random(sizes, GetParam());
      all.push_back({random(sizes), random(sizes), random(sizes, GetParam()), cast});
      all.push_back({random(sizes), random(sizes), random(sizes), {}});
    }
    all.push_back({random({70, 9}), random({70, 9}), random({70, 9}), random({70, 9}, GetParam())});
    all[8].gradient = all[8].gradient.contiguous();  // of a 7x7 convolution, in another order than its weight
    return all;
  }

  static std::vector<SgdTensors> copy_of(const std::vector<SgdTensors>& tensors) {
    std::vector<SgdTensors> copies;
    for (const SgdTensors& one : tensors) {
      copies.push_back({one.parameter.clone(), one.momentum.clone(), one.gradient.clone(),
                        one.cast.defined() ? one.cast.clone() : at::Tensor()});
    }
    return copies;
  }

  static SgdStep step(bool scaled) {
    const at::TensorOptions floats = at::TensorOptions(at::kFloat).device(kGpu);
    SgdStep step{kMomentum, kDecay, at::full({}, kLr, floats), {}, {}};
    if (scaled) {
      step.scale = at::full({1}, kScale, floats);
      step.found_inf = at::full({1}, 7, floats);
    }
    return step;
  }
};

TEST_P(SgdGpuTest, StepsAsInFloat64) {
  for (const bool scaled : {false, true}) {
    const std::vector<SgdTensors> tensors = parameters();
    const std::vector<SgdTensors> before = copy_of(tensors);
    const SgdStep with = step(scaled);
    fused_sgd(tensors, with);
    for (size_t i = 0; i < tensors.size(); ++i) {
      SCOPED_TRACE(i);
      const at::Tensor parameter = before[i].parameter.to(at::kDouble);
      const at::Tensor momentum = kMomentum * before[i].momentum.to(at::kDouble) +
                                  before[i].gradient.to(at::kDouble) / (scaled ? kScale : 1) +
                                  kDecay * parameter;
      EXPECT_LT((tensors[i].momentum - momentum).abs().max().item<double>(), 3e-6);
      EXPECT_LT((tensors[i].parameter - (parameter - kLr * momentum)).abs().max().item<double>(), 3e-6);
      EXPECT_GT((tensors[i].parameter - before[i].parameter).abs().max().item<double>(), 1e-4);
      if (tensors[i].cast.defined()) {
        EXPECT_TRUE(at::equal(tensors[i].cast, tensors[i].parameter.to(GetParam())));
      }
    }
    if (scaled) {
      EXPECT_EQ(with.found_inf.item<float>(), 0);
    }
  }
}

TEST_P(SgdGpuTest, LeavesAStepOutThatOverflows) {
  for (const double bad :
       {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    for (const size_t where : {size_t{4}, size_t{13}, size_t{14}}) {
      const std::vector<SgdTensors> tensors = parameters();
      tensors[where].gradient.view(-1)[-1].fill_(bad);
      const std::vector<SgdTensors> before = copy_of(tensors);
      const SgdStep with = step(/*scaled=*/true);
      fused_sgd(tensors, with);
      EXPECT_EQ(with.found_inf.item<float>(), 1);
      for (size_t i = 0; i < tensors.size(); ++i) {
        EXPECT_TRUE(at::equal(tensors[i].parameter, before[i].parameter));
        EXPECT_TRUE(at::equal(tensors[i].momentum, before[i].momentum));
        if (tensors[i].cast.defined()) {
          EXPECT_TRUE(at::equal(tensors[i].cast, before[i].cast));
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, SgdGpuTest, testing::Values(at::kHalf, at::kBFloat16),
                         [](const auto& type) { return std::string(at::toString(type.param)); });

}  // namespace
}  // namespace slipstream
