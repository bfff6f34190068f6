// The layers of models/norm_layers.h against PyTorch's operators, over ResNet-50's distinct shapes:
//   norm_bench [--bf16] [--batch N]
//
// Times are medians over replays of a CUDA graph, so that launching costs nothing; each replay goes over
// enough copies of the inputs that the 50 MB cache holds none from the time before. "floor" is the traffic of
// the fused layers' passes at the rate of a device copy of the same run.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <ATen/cuda/CUDAEvent.h>
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <fmt/format.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "models/norm_layers.h"

namespace {

using at::Tensor;
using slipstream::BatchNorm;
using slipstream::NormMode;
using slipstream::Twice;

enum class Layer { kRelu, kAddRelu, kAddNormRelu, kReluMaxPool };

struct Shape {
  Layer layer;
  int64_t channels, size;
  int count;  // in ResNet-50
};

constexpr Shape kShapes[] = {
    {Layer::kReluMaxPool, 64, 112, 1}, {Layer::kRelu, 64, 56, 6},         {Layer::kRelu, 128, 56, 1},
    {Layer::kRelu, 128, 28, 7},        {Layer::kRelu, 256, 28, 1},        {Layer::kRelu, 256, 14, 11},
    {Layer::kRelu, 512, 14, 1},        {Layer::kRelu, 512, 7, 5},         {Layer::kAddRelu, 256, 56, 2},
    {Layer::kAddRelu, 512, 28, 3},     {Layer::kAddRelu, 1024, 14, 5},    {Layer::kAddRelu, 2048, 7, 2},
    {Layer::kAddNormRelu, 256, 56, 1}, {Layer::kAddNormRelu, 512, 28, 1}, {Layer::kAddNormRelu, 1024, 14, 1},
    {Layer::kAddNormRelu, 2048, 7, 1},
};

const char* name(Layer layer) {
  switch (layer) {
    case Layer::kRelu:
      return "norm relu";
    case Layer::kAddRelu:
      return "norm add relu";
    case Layer::kAddNormRelu:
      return "norm add norm relu";
    case Layer::kReluMaxPool:
      return "norm relu max-pool";
  }
  return "";
}

/// Bytes that the fused layer's passes read and write, in multiples of its input's.
struct Passes {
  double forward, backward;
};

Passes passes(Layer layer) {
  constexpr double kMask = 1.0 / 16;  // a bit an element, of 16
  switch (layer) {
    case Layer::kRelu:
      return {3, 5};
    case Layer::kAddRelu:
      return {4 + kMask, 7 + kMask};
    case Layer::kAddNormRelu:
      return {5 + kMask, 10 + kMask};
    case Layer::kReluMaxPool:
      return {2 + 0.625, 1.125 + 2.375};  // pooled values are a quarter, their codes an eighth
  }
  return {};
}

struct Inputs {
  Tensor x, around, first, second;
};

BatchNorm make_norm(int64_t channels, const at::TensorOptions& options) {
  const auto of = [&](double value) { return at::full({channels}, value, options.dtype(at::kFloat)); };
  return {of(1.1).requires_grad_(),
          of(0.1).requires_grad_(),
          of(0),
          of(1),
          {},
          at::zeros({channels}, options.dtype(at::kInt))};
}

class LayerBench {
 public:
  LayerBench(const Shape& shape, int64_t batch, const at::TensorOptions& options)
      : shape_(shape),
        norm_(make_norm(shape.channels, options)),
        around_norm_(make_norm(shape.channels, options)) {
    constexpr double kBeyondCache = 400e6;
    const auto copies = std::clamp<int64_t>(
        static_cast<int64_t>(kBeyondCache /
                             static_cast<double>(batch * shape.channels * shape.size * shape.size * 2)),
        2, 16);
    const auto image = [&](int64_t size) {
      return at::randn({batch, shape.channels, size, size}, options)
          .contiguous(at::MemoryFormat::ChannelsLast);
    };
    for (int64_t i = 0; i < copies; ++i) {
      const int64_t out = shape.layer == Layer::kReluMaxPool ? shape.size / 2 : shape.size;
      inputs_.push_back({image(shape.size).requires_grad_(), image(shape.size).requires_grad_(), image(out),
                         shape.layer == Layer::kRelu ? Tensor() : image(out)});
    }
  }

  double megabytes() const { return static_cast<double>(inputs_[0].x.nbytes()) * 1e-6; }

  struct Times {
    double forward_ms, backward_ms;
  };

  Times run(bool fused) {
    forward(fused);  // what allocates or chooses for the first time
    backward();
    at::cuda::CUDAGraph forward_graph;
    at::cuda::CUDAGraph backward_graph;
    forward_graph.capture_begin();
    forward(fused);
    forward_graph.capture_end();
    backward_graph.capture_begin(forward_graph.pool());
    backward();
    backward_graph.capture_end();
    const Times times{median_ms(forward_graph), median_ms(backward_graph)};
    outputs_.clear();
    return times;
  }

 private:
  void forward(bool fused) {
    outputs_.clear();
    const NormMode mode{.training = true, .fused = fused};
    for (const Inputs& in : inputs_) {
      switch (shape_.layer) {
        case Layer::kRelu:
          outputs_.push_back({norm_relu(in.x, norm_, mode), {}});
          break;
        case Layer::kAddRelu:
          outputs_.push_back(norm_add_relu(in.x, norm_, in.around, mode));
          break;
        case Layer::kAddNormRelu:
          outputs_.push_back(norm_add_norm_relu(in.x, norm_, in.around, around_norm_, mode));
          break;
        case Layer::kReluMaxPool:
          outputs_.push_back(norm_relu_max_pool(in.x, norm_, mode));
          break;
      }
    }
  }

  void backward() {
    for (size_t i = 0; i < inputs_.size(); ++i) {
      std::vector<Tensor> outputs = {outputs_[i].first};
      std::vector<Tensor> gradients = {inputs_[i].first};
      if (inputs_[i].second.defined()) {
        outputs.push_back(outputs_[i].second);
        gradients.push_back(inputs_[i].second);
      }
      std::vector<Tensor> wanted = {inputs_[i].x, norm_.weight, norm_.bias};
      if (shape_.layer == Layer::kAddRelu) wanted.push_back(inputs_[i].around);
      if (shape_.layer == Layer::kAddNormRelu) {
        wanted.insert(wanted.end(), {inputs_[i].around, around_norm_.weight, around_norm_.bias});
      }
      torch::autograd::grad(outputs, wanted, gradients);
    }
  }

  // Of one layer: a replay's time over the number of copies.
  double median_ms(at::cuda::CUDAGraph& graph) const {
    constexpr int kReplays = 21;
    std::vector<double> times;
    for (int replay = 0; replay < kReplays + 3; ++replay) {
      at::cuda::CUDAEvent begin(cudaEventDefault);
      at::cuda::CUDAEvent end(cudaEventDefault);
      begin.record();
      graph.replay();
      end.record();
      end.synchronize();
      if (replay >= 3) times.push_back(begin.elapsed_time(end) / static_cast<double>(inputs_.size()));
    }
    std::ranges::nth_element(times, times.begin() + kReplays / 2);
    return times[kReplays / 2];
  }

  Shape shape_;
  BatchNorm norm_, around_norm_;
  std::vector<Inputs> inputs_;
  std::vector<Twice> outputs_;
};

/// Bytes read and written a second.
double copy_rate(const at::TensorOptions& options) {
  const Tensor from = at::zeros({256 << 20}, options.dtype(at::kFloat));
  const Tensor to = at::empty_like(from);
  std::vector<double> rates;
  for (int i = 0; i < 12; ++i) {
    at::cuda::CUDAEvent begin(cudaEventDefault);
    at::cuda::CUDAEvent end(cudaEventDefault);
    begin.record();
    to.copy_(from);
    end.record();
    end.synchronize();
    rates.push_back(2.0 * static_cast<double>(from.nbytes()) / (begin.elapsed_time(end) * 1e-3));
  }
  return *std::ranges::max_element(rates);
}

}  // namespace

int main(int argc, char** argv) {
  at::ScalarType type = at::kHalf;
  int64_t batch = 256;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--bf16") {
      type = at::kBFloat16;
    } else if (argument == "--batch" && i + 1 < argc) {
      batch = std::max(1, std::atoi(argv[++i]));
    } else {
      fmt::print(stderr, "norm_bench [--bf16] [--batch N]\n");
      return 2;
    }
  }
  if (c10::cuda::device_count() == 0) {
    fmt::print(stderr, "norm_bench: this machine has no NVIDIA GPU.\n");
    return 1;
  }
  const c10::cuda::CUDAStreamGuard stream(
      c10::cuda::getStreamFromPool());  // the default one can't be captured
  const auto options = at::TensorOptions(type).device(at::kCUDA);
  const double rate = copy_rate(options);
  fmt::print("batch {}, {}, device copy {:.2f} TB/s; milliseconds a layer\n", batch, at::toString(type),
             rate * 1e-12);
  fmt::print("{:<19} {:>10} {:>2} | {:>7} {:>7} {:>5} {:>7} | {:>7} {:>7} {:>5} {:>7}\n", "layer", "shape",
             "n", "forward", "floor", "of it", "PyTorch", "backwrd", "floor", "of it", "PyTorch");
  double sums[6] = {};
  for (const Shape& shape : kShapes) {
    LayerBench bench(shape, batch, options);
    const auto [forward, backward] = bench.run(/*fused=*/true);
    const auto [their_forward, their_backward] = bench.run(/*fused=*/false);
    const double pass_ms = bench.megabytes() * 1e6 / rate * 1e3;
    const auto [forward_passes, backward_passes] = passes(shape.layer);
    const double row[6] = {forward,  forward_passes * pass_ms,  their_forward,
                           backward, backward_passes * pass_ms, their_backward};
    for (int i = 0; i < 6; ++i) sums[i] += shape.count * row[i];
    fmt::print("{:<19} {:>10} {:>2} | {:7.4f} {:7.4f} {:4.0f}% {:7.4f} | {:7.4f} {:7.4f} {:4.0f}% {:7.4f}\n",
               name(shape.layer), fmt::format("{}@{}", shape.channels, shape.size), shape.count, row[0],
               row[1], 100 * row[1] / row[0], row[2], row[3], row[4], 100 * row[4] / row[3], row[5]);
  }
  fmt::print("{:<19} {:>10} {:>2} | {:7.3f} {:7.3f} {:4.0f}% {:7.3f} | {:7.3f} {:7.3f} {:4.0f}% {:7.3f}\n",
             "all of a step", "", "", sums[0], sums[1], 100 * sums[1] / sums[0], sums[2], sums[3], sums[4],
             100 * sums[4] / sums[3], sums[5]);
  fmt::print("forward and backward: {:.2f} ms, PyTorch {:.2f} ms, floor {:.2f} ms\n", sums[0] + sums[3],
             sums[2] + sums[5], sums[1] + sums[4]);
  return 0;
}
