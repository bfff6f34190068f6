#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/norm_layers.h"

namespace slipstream {

/// Names and tensors of parameters and buffers, in the order of Python's state_dict().
using StateDict = std::vector<std::pair<std::string, at::Tensor>>;

struct Conv {
  at::Tensor weight;  ///< [out, in, k, k]
  at::Tensor cast;    ///< the weight in another type, once ResNet::keep_casts was called
  int64_t stride = 1;
  int64_t padding = 0;
};

/// One residual block: two 3x3 convolutions, or 1x1, 3x3, 1x1 in a bottleneck, each with its batch norm.
struct ResidualBlock {
  std::vector<std::pair<Conv, BatchNorm>> layers;
  std::optional<std::pair<Conv, BatchNorm>> downsample;  ///< around a block that changes size
};

/// How norms, additions, ReLUs and the pooling between convolutions are computed: fused, where there are
/// kernels for it (models/norm_kernels.h), or by ATen's operators, one after the other. Results differ by
/// rounding at most.
enum class Norms { kFused, kSeparate };

/// ResNet-18 to 152, v1.5: in bottlenecks the 3x3 convolution has the stride (He et al., 2016; the variant is
/// torchvision's). Parameters and buffers have torchvision's names, so that weight files fit both ways.
///
/// Written on ATen's operators: LibTorch's torch/nn costs every file that sees it 25 s of compilation.
class ResNet {
 public:
  /// On the CPU, contiguous, initialised as torchvision does after torch.manual_seed(seed), to the bit.
  /// Throws UsageError unless resnet_archs() has `arch` and num_classes is positive.
  ResNet(const std::string& arch, int64_t num_classes, uint64_t seed, Norms norms = Norms::kFused);

  enum class Phase { kTraining, kEvaluation };

  /// images: [N, 3, H, W], of either memory format; for training, or in one of models/stem.h's forms. Returns
  /// logits [N, num_classes], under autocast in its type. Training uses the batch's statistics and updates
  /// the running ones. Doesn't wait for a device.
  at::Tensor forward(const at::Tensor& images, Phase phase);

  /// Keeps copies of the convolutions' and the classifier's weights in `type`, for training to use in the
  /// weights' place: autocast casts each weight, and each gradient back, by a launch of its own. Values are
  /// the same. Call it when the model is on its device.
  void keep_casts(c10::ScalarType type);

  /// Makes the copies anew, in one pass, if an operator of LibTorch has changed a weight since. Call it
  /// before training's forward.
  void refresh_casts();

  /// By parameter, in the order of parameters(): the copy that gets the gradient in its place, undefined for
  /// those that have none; empty without keep_casts.
  const std::vector<at::Tensor>& casts() const { return casts_; }

  /// What is trained. The tensors stay the same objects for as long as the model lives.
  const StateDict& parameters() const { return parameters_; }

  /// Parameters and buffers, detached: they share the model's memory and change when it trains.
  StateDict state_dict() const;

  /// Moves parameters and buffers; before the first backward pass.
  void to(c10::Device device);

  /// Lays 4-D parameters out as channels_last; before the first backward pass.
  void to_channels_last();

 private:
  class Builder;

  Convolved convolve_first(const at::Tensor& images, NormMode mode) const;

  std::pair<Conv, BatchNorm> conv_;
  std::array<std::vector<ResidualBlock>, 4> stages_;
  at::Tensor fc_weight_, fc_weight_cast_;  // [classes, C]
  at::Tensor fc_bias_, fc_bias_cast_;      // [classes]
  StateDict parameters_;
  StateDict state_;                   // parameters and buffers: the same tensors
  std::vector<at::Tensor> counters_;  // each batch norm's num_batches_tracked
  std::vector<at::Tensor> arrivals_;  // each batch norm's
  std::vector<at::Tensor> casts_;     // by parameter
  int64_t cast_version_ = -1;         // of the weights, when the casts were made
  Norms norms_;
};

/// The names that ResNet knows, smallest first.
std::vector<std::string> resnet_archs();

}  // namespace slipstream
