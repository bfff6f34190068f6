#include "tests/models/norm_reference.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include <limits>
#include <optional>

namespace slipstream::test {
namespace {

using at::Tensor;

const at::TensorOptions kDouble(at::kDouble);

int64_t pooled(int64_t size) { return (size - 1) / 2 + 1; }

BatchNorm draw_norm(int64_t channels, at::Generator& generator) {
  const auto draw = [&](double mean, double deviation) {
    return at::randn({channels}, generator, at::kFloat).mul_(deviation).add_(mean);
  };
  // Weights of both signs; none near 0, where a reference could not tell which of two inputs is the larger.
  Tensor weight = draw(1, 0.3).abs_().add_(0.1);
  weight.slice(0, 1, std::nullopt, 3).neg_();
  return {weight,
          draw(0, 0.5),
          draw(0.5, 1),
          draw(2, 0.5).abs_(),
          at::zeros({}, at::kLong),
          at::zeros({channels}, at::kInt)};
}

Tensor draw_image(at::IntArrayRef sizes, at::ScalarType type, at::Generator& generator) {
  const Tensor means = at::randn({1, sizes[1], 1, 1}, generator, at::kFloat).mul_(3);
  const Tensor deviations = at::rand({1, sizes[1], 1, 1}, generator, at::kFloat).mul_(2).add_(0.2);
  return at::randn(sizes, generator, at::kFloat)
      .mul_(deviations)
      .add_(means)
      .to(type)
      .contiguous(at::MemoryFormat::ChannelsLast);
}

BatchNorm copy_norm(const BatchNorm& norm, c10::Device device) {
  const auto copy = [&](const Tensor& tensor) {
    return tensor.to(device, tensor.scalar_type(), false, true);
  };
  return {copy(norm.weight).requires_grad_(),
          copy(norm.bias).requires_grad_(),
          copy(norm.running_mean),
          copy(norm.running_var),
          copy(norm.num_batches_tracked),
          copy(norm.arrivals)};
}

/// xhat, of [N, C, H, W] in float64; moves the running statistics.
struct ReferenceNorm {
  Tensor normalised, scale, weight, bias, running_mean, running_var;

  ReferenceNorm(const Tensor& input, const BatchNorm& norm)
      : weight(wide(norm.weight)), bias(wide(norm.bias)) {
    const Tensor x = input.to(at::kDouble);
    const auto count = static_cast<double>(x.numel() / x.size(1));
    const Tensor mean = x.sum({0, 2, 3}, true) / count;
    const Tensor squares = (x - mean).square().sum({0, 2, 3}, true);
    scale = 1 / (squares / count + 1e-5).sqrt();
    normalised = (x - mean) * scale;
    running_mean = norm.running_mean.to(at::kDouble) * 0.9 + mean.flatten() * 0.1;
    running_var = norm.running_var.to(at::kDouble) * 0.9 + squares.flatten() / (count - 1) * 0.1;
  }
  static Tensor wide(const Tensor& tensor) { return tensor.to(at::kDouble).view({1, -1, 1, 1}); }
  Tensor output() const { return normalised * weight + bias; }
  Tensor weight_gradient(const Tensor& dz) const { return (dz * normalised).sum({0, 2, 3}); }
  static Tensor bias_gradient(const Tensor& dz) { return dz.sum({0, 2, 3}); }
  Tensor input_gradient(const Tensor& dz) const {
    const auto mean = [](const Tensor& t) { return t.mean({0, 2, 3}, true); };
    return weight * scale * (dz - mean(dz) - normalised * mean(dz * normalised));
  }
};

/// Maxima of 3x3 windows in steps of 2 around the even inputs, and where a window's gradient goes.
struct ReferencePool {
  Tensor maxima, leads;          // leads: how far the next smaller value of the window is below
  std::vector<int64_t> sources;  // of each maximum, as an index into the input

  explicit ReferencePool(const Tensor& input)
      : maxima(
            at::empty({input.size(0), input.size(1), pooled(input.size(2)), pooled(input.size(3))}, kDouble)),
        leads(at::empty_like(maxima)) {
    const Tensor x = input.contiguous();
    const auto* values = x.const_data_ptr<double>();
    auto* out = maxima.data_ptr<double>();
    auto* lead = leads.data_ptr<double>();
    const int64_t height = x.size(2);
    const int64_t width = x.size(3);
    for (int64_t plane = 0; plane < x.size(0) * x.size(1); ++plane) {
      for (int64_t row = 0; row < maxima.size(2); ++row) {
        for (int64_t column = 0; column < maxima.size(3); ++column) {
          int64_t best = -1;
          double second = -std::numeric_limits<double>::infinity();
          for (int64_t h = std::max<int64_t>(2 * row - 1, 0); h < std::min(2 * row + 2, height); ++h) {
            for (int64_t w = std::max<int64_t>(2 * column - 1, 0); w < std::min(2 * column + 2, width); ++w) {
              const int64_t at = (plane * height + h) * width + w;
              if (best < 0 || values[at] > values[best]) {
                if (best >= 0) second = values[best];
                best = at;
              } else if (values[at] < values[best]) {
                second = std::max(second, values[at]);
              }
            }
          }
          *out++ = values[best];
          *lead++ = values[best] - second;
          sources.push_back(best);
        }
      }
    }
  }
  Tensor input_gradient(const Tensor& dy, at::IntArrayRef sizes) const {
    Tensor dx = at::zeros(sizes, kDouble);
    const Tensor gradient = dy.contiguous();
    for (size_t i = 0; i < sources.size(); ++i) {
      dx.data_ptr<double>()[sources[i]] += gradient.const_data_ptr<double>()[i];
    }
    return dx;
  }
};

/// The layer before its ReLU.
struct ReferenceForward {
  ReferenceNorm norm;
  std::optional<ReferenceNorm> around;
  std::optional<ReferencePool> pool;
  Tensor z;

  explicit ReferenceForward(const NormCase& given) : norm(given.x, given.norm), z(norm.output()) {
    if (given.around_norm.weight.defined()) around.emplace(given.around, given.around_norm);
    if (around) z = z + around->output();
    if (given.around.defined() && !around) z = z + given.around.to(at::kDouble);
    if (given.layer == NormLayer::kNormReluMaxPool) z = pool.emplace(z).maxima;
  }
};

void drop_undecided_gradients(NormCase& given) {
  const ReferenceForward forward(given);
  const at::ScalarType type = given.x.scalar_type();
  const double margin = type == at::kFloat ? 1e-4 : type == at::kHalf ? 1e-2 : 8e-2;
  Tensor decided = forward.z.abs().gt(margin);
  if (forward.pool) decided = decided.logical_and(forward.pool->leads.gt(margin));
  for (Tensor* gradient : {&given.first_gradient, &given.second_gradient}) {
    if (gradient->defined()) *gradient = *gradient * decided.to(type);
  }
}

}  // namespace

NormCase norm_case(NormLayer layer, at::IntArrayRef sizes, at::ScalarType type, uint64_t seed) {
  at::Generator generator = at::detail::createCPUGenerator(seed);
  NormCase made{
      .layer = layer, .x = draw_image(sizes, type, generator), .norm = draw_norm(sizes[1], generator)};
  std::vector<int64_t> out = sizes.vec();
  if (layer == NormLayer::kNormReluMaxPool) out = {out[0], out[1], pooled(out[2]), pooled(out[3])};
  if (layer == NormLayer::kNormAddRelu || layer == NormLayer::kNormAddNormRelu) {
    made.around = draw_image(sizes, type, generator);
  }
  if (layer == NormLayer::kNormAddNormRelu) made.around_norm = draw_norm(sizes[1], generator);
  made.first_gradient = draw_image(out, type, generator);
  if (layer != NormLayer::kNormRelu) made.second_gradient = draw_image(out, type, generator);
  drop_undecided_gradients(made);
  return made;
}

NormResults run_layer(const NormCase& given, c10::Device device, bool fused) {
  const NormMode mode{.training = true, .fused = fused};
  const auto leaf = [&](const Tensor& tensor) {
    return tensor.defined() ? tensor.detach().to(device).requires_grad_() : Tensor();
  };
  const Tensor x = leaf(given.x);
  const Tensor around = leaf(given.around);
  const BatchNorm norm = copy_norm(given.norm, device);
  BatchNorm around_norm;
  if (given.around_norm.weight.defined()) around_norm = copy_norm(given.around_norm, device);
  Twice y;
  switch (given.layer) {
    case NormLayer::kNormRelu:
      y.first = norm_relu(x * 1, norm, mode);  // not a leaf, as a convolution's output
      break;
    case NormLayer::kNormAddRelu:
      y = norm_add_relu(x * 1, norm, around, mode);
      break;
    case NormLayer::kNormAddNormRelu:
      y = norm_add_norm_relu(x * 1, norm, around, around_norm, mode);
      break;
    case NormLayer::kNormReluMaxPool:
      y = norm_relu_max_pool(x * 1, norm, mode);
      break;
  }
  Tensor sum;
  for (const auto& [out, gradient] :
       {std::pair(y.first, given.first_gradient), std::pair(y.second, given.second_gradient)}) {
    if (!gradient.defined()) continue;
    const Tensor part = (out * gradient.to(device)).to(at::kDouble).sum();
    sum = sum.defined() ? sum + part : part;
  }
  sum.backward();
  NormResults results = {{"y", y.first.detach()},
                         {"dx", x.grad()},
                         {"dweight", norm.weight.grad()},
                         {"dbias", norm.bias.grad()},
                         {"running_mean", norm.running_mean},
                         {"running_var", norm.running_var}};
  if (around.defined()) results.emplace_back("daround", around.grad());
  if (around_norm.weight.defined()) {
    results.insert(results.end(), {{"around's dweight", around_norm.weight.grad()},
                                   {"around's dbias", around_norm.bias.grad()},
                                   {"around's running_mean", around_norm.running_mean},
                                   {"around's running_var", around_norm.running_var}});
  }
  return results;
}

NormResults reference(const NormCase& given) {
  const auto [norm, around, pool, z] = ReferenceForward(given);
  Tensor dz = at::zeros_like(z);
  for (const Tensor& gradient : {given.first_gradient, given.second_gradient}) {
    if (gradient.defined()) dz = dz + gradient.to(at::kDouble);
  }
  dz = dz * z.gt(0).to(at::kDouble);
  if (pool) dz = pool->input_gradient(dz, given.x.sizes());
  NormResults results = {{"y", z.clamp_min(0)},
                         {"dx", norm.input_gradient(dz)},
                         {"dweight", norm.weight_gradient(dz)},
                         {"dbias", ReferenceNorm::bias_gradient(dz)},
                         {"running_mean", norm.running_mean},
                         {"running_var", norm.running_var}};
  if (given.around.defined()) results.emplace_back("daround", around ? around->input_gradient(dz) : dz);
  if (around) {
    results.insert(results.end(), {{"around's dweight", around->weight_gradient(dz)},
                                   {"around's dbias", ReferenceNorm::bias_gradient(dz)},
                                   {"around's running_mean", around->running_mean},
                                   {"around's running_var", around->running_var}});
  }
  return results;
}

Distance distance(const Tensor& a, const Tensor& b) {
  const Tensor difference = a.cpu().to(at::kDouble) - b.cpu().to(at::kDouble);
  return {difference.abs().max().item<double>(), difference.square().mean().sqrt().item<double>()};
}

}  // namespace slipstream::test
