#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "models/pickle_file.h"
#include "models/resnet.h"
#include "models/weights.h"
#include "tests/support/test_support.h"

namespace slipstream {
namespace {

using test::TemporaryFolder;
using Tensors = std::map<std::string, at::Tensor>;

constexpr uint64_t kSeed = 20;  // also in resnet_oracle.py
constexpr double kTolerance = 1e-4;

/// max|a - b| / max|b|.
double relative_error(const at::Tensor& a, const at::Tensor& b) {
  return ((a - b).abs().max() / b.abs().max()).item<double>();
}

Tensors tensors_of(const c10::IValue& dict) {
  Tensors tensors;
  for (const auto& item : dict.toGenericDict()) tensors[item.key().toStringRef()] = item.value().toTensor();
  return tensors;
}

struct Case {
  const char* arch;
  size_t tensors;     ///< of the state dict
  size_t parameters;  ///< of these, trained: a gradient each
};

/// Both sides use one thread: sums that are split otherwise are rounded otherwise, and the batch norms of
/// layer4, which see 4 images of 3x3 positions, enlarge that.
class ResNetOracleTest : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    python_ = test::oracle_python();
    if (python_.empty()) GTEST_SKIP() << "Python with torch, torchvision and Pillow isn't installed";
    at::set_num_threads(1);
  }

  /// Runs resnet_oracle.py on the folder and returns what it printed.
  std::string run_oracle() const {
    const std::string script = (test::source_folder() / "tests/oracle/resnet_oracle.py").string();
    const auto result =
        test::run_command(python_ + " " + script + " " + GetParam().arch + " " + folder_.path().string());
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    return result.output;
  }

  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

 private:
  std::string python_;
  TemporaryFolder folder_;
};

void expect_close(const at::Tensor& found, const at::Tensor& expected, const std::string& what) {
  ASSERT_EQ(found.sizes(), expected.sizes()) << what;
  ASSERT_GT(expected.abs().max().item<double>(), 0) << what << ": the oracle's is all zero";
  EXPECT_LE(relative_error(found, expected), kTolerance) << what;
}

/// One forward and backward pass against "<mode>_logits" and "<mode>_gradients". Returns the largest error.
double compare_pass(ResNet& model, const c10::impl::GenericDict& oracle, ResNet::Phase phase,
                    size_t parameters) {
  const std::string mode = phase == ResNet::Phase::kTraining ? "train" : "eval";
  for (const auto& [name, parameter] : model.parameters()) parameter.mutable_grad().reset();
  const at::Tensor logits = model.forward(oracle.at("images").toTensor(), phase);
  at::cross_entropy_loss(logits, oracle.at("labels").toTensor()).backward();
  const at::Tensor expected_logits = oracle.at(mode + "_logits").toTensor();
  expect_close(logits, expected_logits, mode + " logits");
  double worst = relative_error(logits, expected_logits);

  const Tensors expected = tensors_of(oracle.at(mode + "_gradients"));
  size_t compared = 0;
  for (const auto& [name, parameter] : model.parameters()) {
    const at::Tensor& gradient = expected.at(name);
    expect_close(parameter.grad(), gradient, mode + " gradient of " + name);
    worst = std::max(worst, relative_error(parameter.grad(), gradient));
    ++compared;
  }
  EXPECT_EQ(compared, parameters);
  EXPECT_EQ(expected.size(), parameters);
  return worst;
}

/// One test, for each run of Python takes seconds: the initial weights and the file of ours that Python loads
/// (compared there), logits, gradients, running statistics, and a checkpoint of Python's.
TEST_P(ResNetOracleTest, AgreesWithTorchvision) {
  ResNet seeded(GetParam().arch, 1000, kSeed);
  seeded.to_channels_last();
  save_weights(path("ours.pt"), seeded);
  ASSERT_EQ(run_oracle(), std::to_string(GetParam().tensors) + "\n");

  ResNet model(GetParam().arch, 1000, kSeed + 1);  // contiguous, as Python's
  const StateDict weights = load_weights(path("weights.pt"));
  ASSERT_EQ(weights.size(), GetParam().tensors);
  load_state_dict(model, weights);

  const auto oracle = load_pickle(path("expected.pt")).toGenericDict();
  const double eval_error = compare_pass(model, oracle, ResNet::Phase::kEvaluation, GetParam().parameters);
  RecordProperty("eval_error", fmt::format("{:g}", eval_error));
  const double train_error = compare_pass(model, oracle, ResNet::Phase::kTraining, GetParam().parameters);
  RecordProperty("train_error", fmt::format("{:g}", train_error));

  const Tensors expected = tensors_of(oracle.at("buffers_after"));
  EXPECT_EQ(expected.size(), GetParam().tensors - GetParam().parameters);
  size_t compared = 0;
  for (const auto& [name, tensor] : model.state_dict()) {
    if (!expected.contains(name)) continue;
    expect_close(tensor, expected.at(name), name);
    ++compared;
  }
  EXPECT_EQ(compared, expected.size());

  const StateDict checkpoint = load_weights(path("checkpoint.pt"));
  const StateDict ours = model.state_dict();
  ASSERT_EQ(checkpoint.size(), ours.size());
  for (size_t i = 0; i < ours.size(); ++i) {
    EXPECT_EQ(checkpoint[i].first, ours[i].first);
    expect_close(ours[i].second, checkpoint[i].second, ours[i].first);
  }
}

INSTANTIATE_TEST_SUITE_P(All, ResNetOracleTest,
                         testing::Values(Case{"resnet18", 122, 62}, Case{"resnet50", 320, 161}),
                         [](const auto& instance) { return std::string(instance.param.arch); });

}  // namespace
}  // namespace slipstream
