#include "models/resnet.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_copy.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "data/error.h"
#include "models/average_pool.h"
#include "models/convolution.h"
#include "models/stem.h"

namespace slipstream {
namespace {

using at::Tensor;

struct Arch {
  const char* name;
  bool bottleneck;
  std::array<int, 4> blocks;  // of each stage
};

constexpr std::array kArchs = {
    Arch{"resnet18", false, {2, 2, 2, 2}},  Arch{"resnet34", false, {3, 4, 6, 3}},
    Arch{"resnet50", true, {3, 4, 6, 3}},   Arch{"resnet101", true, {3, 4, 23, 3}},
    Arch{"resnet152", true, {3, 8, 36, 3}},
};

constexpr std::array<int64_t, 4> kWidths = {64, 128, 256, 512};
constexpr int64_t kBottleneckExpansion = 4;

const Arch& find_arch(const std::string& name) {
  const auto* const found =
      std::ranges::find(kArchs, name, [](const Arch& arch) { return std::string(arch.name); });
  if (found == kArchs.end()) {
    throw UsageError(fmt::format("There is no architecture '{}'; choose one of {}.", name,
                                 fmt::join(resnet_archs(), ", ")));
  }
  return *found;
}

const Tensor& in_use(const Tensor& weight, const Tensor& cast, NormMode mode) {
  return mode.training && cast.defined() ? cast : weight;
}

ConvUse use_of(NormMode mode) {
  if (!mode.training) return ConvUse::kEvaluation;
  return mode.fused ? ConvUse::kTrainingOfFusedNorm : ConvUse::kTraining;
}

Convolved convolve(const Conv& conv, const Tensor& input, NormMode mode) {
  return convolve(input, in_use(conv.weight, conv.cast, mode), conv.stride, conv.padding, use_of(mode));
}

Twice run_block(const ResidualBlock& block, const Twice& input, NormMode mode) {
  Tensor out = input.first;
  for (size_t i = 0; i + 1 < block.layers.size(); ++i) {
    const auto& [conv, norm] = block.layers[i];
    out = norm_relu(convolve(conv, out, mode), norm, mode);
  }
  const auto& [conv, norm] = block.layers.back();
  const Convolved last = convolve(conv, out, mode);
  if (!block.downsample) return norm_add_relu(last, norm, input.second, mode);
  const auto& [around, around_norm] = *block.downsample;
  return norm_add_norm_relu(last, norm, convolve(around, input.second, mode), around_norm, mode);
}

}  // namespace

// Makes tensors in two orders: torchvision's construction, in which it draws from the generator, and its
// state dict, in which they are named. Only a block's downsample differs: made first, named last.
class ResNet::Builder {
 public:
  Builder(ResNet& model, uint64_t seed) : model_(model), generator_(at::detail::createCPUGenerator(seed)) {}

  Conv make_conv(int64_t in, int64_t out, int64_t kernel, int64_t stride) {
    Conv conv{at::empty({out, in, kernel, kernel}), {}, stride, kernel / 2};
    draw_default(conv.weight, in * kernel * kernel);  // drawn, as torchvision does, and drawn again below
    return conv;
  }

  static BatchNorm make_norm(int64_t channels) {
    return {at::ones({channels}),
            at::zeros({channels}),
            at::zeros({channels}),
            at::ones({channels}),
            at::zeros({}, at::TensorOptions(at::kLong)),
            at::zeros({channels}, at::TensorOptions(at::kInt))};
  }

  std::pair<Conv, BatchNorm> make_layer(int64_t in, int64_t out, int64_t kernel, int64_t stride) {
    return {make_conv(in, out, kernel, stride), make_norm(out)};
  }

  ResidualBlock make_block(bool bottleneck, int64_t in, int64_t width, int64_t stride) {
    const int64_t out = bottleneck ? width * kBottleneckExpansion : width;
    ResidualBlock block;
    if (stride != 1 || in != out) block.downsample = make_layer(in, out, 1, stride);
    if (bottleneck) {
      block.layers.push_back(make_layer(in, width, 1, 1));
      block.layers.push_back(make_layer(width, width, 3, stride));
      block.layers.push_back(make_layer(width, out, 1, 1));
    } else {
      block.layers.push_back(make_layer(in, width, 3, stride));
      block.layers.push_back(make_layer(width, width, 3, 1));
    }
    return block;
  }

  void make_classifier(int64_t in, int64_t classes) {
    model_.fc_weight_ = at::empty({classes, in});
    model_.fc_bias_ = at::empty({classes});
    draw_default(model_.fc_weight_, in);
    draw_default(model_.fc_bias_, in);
  }

  void name_all() {
    name_layer("conv1", "bn1", model_.conv_);
    for (size_t stage = 0; stage < model_.stages_.size(); ++stage) {
      for (size_t index = 0; index < model_.stages_[stage].size(); ++index) {
        const ResidualBlock& block = model_.stages_[stage][index];
        const std::string prefix = fmt::format("layer{}.{}.", stage + 1, index);
        for (size_t layer = 0; layer < block.layers.size(); ++layer) {
          name_layer(fmt::format("{}conv{}", prefix, layer + 1), fmt::format("{}bn{}", prefix, layer + 1),
                     block.layers[layer]);
        }
        if (block.downsample) name_layer(prefix + "downsample.0", prefix + "downsample.1", *block.downsample);
      }
    }
    add_parameter("fc.weight", model_.fc_weight_);
    add_parameter("fc.bias", model_.fc_bias_);
  }

 private:
  // The library's default of convolutions and linear layers (He et al., 2015, with a = sqrt(5)).
  void draw_default(Tensor& tensor, int64_t fan_in) {
    const double bound = 1 / std::sqrt(static_cast<double>(fan_in));
    tensor.uniform_(-bound, bound, generator_);
  }

  // torchvision's: normal, with the deviation that keeps gradients' size through ReLUs (He et al., 2015).
  void name_layer(const std::string& conv_name, const std::string& norm_name,
                  const std::pair<Conv, BatchNorm>& layer) {
    const auto& [conv, norm] = layer;
    const auto fan_out = static_cast<double>(conv.weight.size(0) * conv.weight.size(2) * conv.weight.size(3));
    Tensor(conv.weight).normal_(0, std::sqrt(2.0) / std::sqrt(fan_out), generator_);
    add_parameter(conv_name + ".weight", conv.weight);
    add_parameter(norm_name + ".weight", norm.weight);
    add_parameter(norm_name + ".bias", norm.bias);
    model_.state_.emplace_back(norm_name + ".running_mean", norm.running_mean);
    model_.state_.emplace_back(norm_name + ".running_var", norm.running_var);
    model_.state_.emplace_back(norm_name + ".num_batches_tracked", norm.num_batches_tracked);
    model_.counters_.push_back(norm.num_batches_tracked);
    model_.arrivals_.push_back(norm.arrivals);
  }

  void add_parameter(const std::string& name, const Tensor& tensor) {
    tensor.set_requires_grad(true);
    model_.parameters_.emplace_back(name, tensor);
    model_.state_.emplace_back(name, tensor);
  }

  ResNet& model_;
  at::Generator generator_;
};

ResNet::ResNet(const std::string& arch, int64_t num_classes, uint64_t seed, Norms norms) : norms_(norms) {
  const Arch& shape = find_arch(arch);
  if (num_classes < 1) {
    throw UsageError(fmt::format("A model of {} classes can't be made; at least 1 is needed.", num_classes));
  }
  const at::NoGradGuard no_grad;
  Builder builder(*this, seed);
  conv_ = builder.make_layer(3, kWidths[0], 7, 2);
  int64_t channels = kWidths[0];
  for (size_t stage = 0; stage < stages_.size(); ++stage) {
    for (int index = 0; index < shape.blocks[stage]; ++index) {
      const int64_t stride = stage > 0 && index == 0 ? 2 : 1;
      stages_[stage].push_back(builder.make_block(shape.bottleneck, channels, kWidths[stage], stride));
      channels = kWidths[stage] * (shape.bottleneck ? kBottleneckExpansion : 1);
    }
  }
  builder.make_classifier(channels, num_classes);
  builder.name_all();
}

Tensor ResNet::forward(const Tensor& images, Phase phase) {
  if (phase == Phase::kTraining) {
    const at::NoGradGuard no_grad;
    at::_foreach_add_(counters_, 1);
  }
  const NormMode mode{phase == Phase::kTraining, norms_ == Norms::kFused};
  Twice out = norm_relu_max_pool(convolve_first(images, mode), conv_.second, mode);
  for (const auto& stage : stages_) {
    for (const ResidualBlock& block : stage) out = run_block(block, out, mode);
  }
  return at::linear(average_pool(out.first), in_use(fc_weight_, fc_weight_cast_, mode),
                    in_use(fc_bias_, fc_bias_cast_, mode));
}

// Of images that training has formed already, or plain ones.
Convolved ResNet::convolve_first(const Tensor& images, NormMode mode) const {
  const Conv& conv = conv_.first;
  if (!mode.training) return convolve(conv, images, mode);
  const bool plain = stem_form_of(images.size(1)) == StemForm::kPlain;
  return convolve_stem(plain ? form_images(images, stem_form(images)) : images,
                       in_use(conv.weight, conv.cast, mode), use_of(mode));
}

void ResNet::keep_casts(c10::ScalarType type) {
  casts_.assign(parameters_.size(), {});
  const auto keep = [&](const Tensor& weight, Tensor& cast) {
    cast = weight.detach().to(type).set_requires_grad(true);
    const auto of_weight = [&](const auto& named) { return named.second.is_same(weight); };
    casts_[std::ranges::find_if(parameters_, of_weight) - parameters_.begin()] = cast;
  };
  const auto keep_of_layer = [&](std::pair<Conv, BatchNorm>& layer) {
    keep(layer.first.weight, layer.first.cast);
  };
  keep_of_layer(conv_);
  for (auto& stage : stages_) {
    for (ResidualBlock& block : stage) {
      for (auto& layer : block.layers) keep_of_layer(layer);
      if (block.downsample) keep_of_layer(*block.downsample);
    }
  }
  keep(fc_weight_, fc_weight_cast_);
  keep(fc_bias_, fc_bias_cast_);
}

void ResNet::refresh_casts() {
  if (casts_.empty()) return;
  int64_t version = 0;  // versions only grow
  for (const auto& [name, parameter] : parameters_) version += parameter._version();
  if (version == cast_version_) return;
  cast_version_ = version;
  std::vector<Tensor> to;
  std::vector<Tensor> from;
  for (size_t i = 0; i < casts_.size(); ++i) {
    if (!casts_[i].defined()) continue;
    to.push_back(casts_[i]);
    from.push_back(parameters_[i].second);
  }
  const at::NoGradGuard no_grad;
  at::_foreach_copy_(to, from);
}

StateDict ResNet::state_dict() const {
  StateDict detached;
  for (const auto& [name, tensor] : state_) detached.emplace_back(name, tensor.detach());
  return detached;
}

void ResNet::to(c10::Device device) {
  const at::NoGradGuard no_grad;
  for (auto& [name, tensor] : state_) tensor.set_data(tensor.to(device));
  for (Tensor& tensor : arrivals_) tensor.set_data(tensor.to(device));
}

void ResNet::to_channels_last() {
  const at::NoGradGuard no_grad;
  for (auto& [name, tensor] : parameters_) {
    if (tensor.dim() == 4) tensor.set_data(tensor.contiguous(at::MemoryFormat::ChannelsLast));
  }
}

std::vector<std::string> resnet_archs() {
  std::vector<std::string> names;
  for (const Arch& arch : kArchs) names.emplace_back(arch.name);
  return names;
}

}  // namespace slipstream
