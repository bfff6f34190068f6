#include <ATen/Context.h>
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/CUDAEvent.h>
#include <ATen/cuda/Sleep.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/convolution_backward.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <cudnn.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <map>

#include "data/error.h"
#include "models/conv_choices.h"
#include "models/conv_graph.h"
#include "models/conv_kernels.h"
#include "models/norm_statistics_cuda.h"

namespace slipstream {
namespace {

using at::MemoryFormat;
using at::Tensor;

// Milliseconds of `work` on the current stream, the least of several times. Waits for it. The device is kept
// busy while the host queues, or the host's time would count.
double least_ms(int times, const std::function<void()>& work) {
  constexpr int64_t kBusyCycles = 100'000;  // some 50 us
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < times; ++i) {
    at::cuda::CUDAEvent begin(cudaEventDefault);
    at::cuda::CUDAEvent end(cudaEventDefault);
    at::cuda::sleep(kBusyCycles);
    begin.record();
    work();
    end.record();
    end.synchronize();
    least = std::min(least, static_cast<double>(begin.elapsed_time(end)));
  }
  return least;
}

// A problem's graph with the engine that runs it; none if none is fit.
struct Plan {
  std::unique_ptr<ConvGraph> graph;
  int64_t engine = -1;
  double ms = std::numeric_limits<double>::infinity();
};

// Null if cuDNN knows no engine for it.
std::unique_ptr<ConvGraph> graph_of(const ConvProblem& problem) {
  try {
    return std::make_unique<ConvGraph>(problem);
  } catch (const Error&) {
    return nullptr;
  }
}

// Whether an engine is there to be run from now on, which may fail where it builds, or for want of memory to
// work in. Runs it.
bool runs(ConvGraph& graph, int64_t engine, const ConvPointers& pointers) {
  if (!graph.build(engine)) return false;
  try {
    graph.run(engine, pointers);
    return true;
  } catch (const Error&) {
    return false;
  } catch (const c10::OutOfMemoryError&) {
    return false;
  }
}

// Of the engine of this name; none if it isn't offered or doesn't run any more.
Plan plan_of(const ConvProblem& problem, const ConvChoices::Choice& choice, const ConvPointers& pointers) {
  auto graph = graph_of(problem);
  if (!graph) return {};
  const std::vector<std::string> engines = graph->engines();
  const auto found = std::ranges::find(engines, choice.engine);
  if (found == engines.end() || !runs(*graph, found - engines.begin(), pointers)) return {};
  return {std::move(graph), found - engines.begin(), choice.ms};
}

// The fastest engine: each runs a few times, those near the best some more.
Plan fastest_plan(const ConvProblem& problem, const ConvPointers& pointers) {
  constexpr int64_t kMostEngines = 24;
  constexpr double kNear = 1.1;
  Plan plan{graph_of(problem)};
  if (!plan.graph) return {};
  std::vector<std::pair<double, int64_t>> timed;
  const auto count = static_cast<int64_t>(plan.graph->engines().size());
  for (int64_t engine = 0; engine < std::min(count, kMostEngines); ++engine) {
    if (!runs(*plan.graph, engine, pointers)) continue;
    timed.emplace_back(least_ms(3, [&] { plan.graph->run(engine, pointers); }), engine);
  }
  std::ranges::sort(timed);
  for (const auto& [ms, engine] : timed) {
    if (ms > kNear * timed.front().first) break;
    const double again = least_ms(10, [&] { plan.graph->run(engine, pointers); });
    if (again < plan.ms) plan.ms = again, plan.engine = engine;
  }
  return plan;
}

class CudnnConvKernels : public ConvKernels {
 public:
  explicit CudnnConvKernels(const std::string& choices_file) : choices_(choices_file) {}

  bool take(const ConvInput& input) const override {
    const at::Context& switches = at::globalContext();
    const auto fits = [&](const Tensor& tensor) {
      return tensor.is_cuda() && tensor.dim() == 4 && tensor.numel() > 0 &&
             tensor.scalar_type() == input.x.scalar_type() &&
             tensor.is_contiguous(MemoryFormat::ChannelsLast);
    };
    const bool half = input.x.scalar_type() == at::kHalf || input.x.scalar_type() == at::kBFloat16;
    return half && switches.benchmarkCuDNN() && !switches.deterministicCuDNN() && fits(input.x) &&
           fits(input.weight);
  }

  Convolved forward(const ConvInput& input, bool with_sums) override {
    const c10::cuda::CUDAGuard device(input.x.device());
    ConvProblem problem = problem_of(ConvPass::kForward, input);
    const Tensor y = at::empty(problem.y(), input.x.options(), MemoryFormat::ChannelsLast);
    ConvPointers pointers{input.x.data_ptr(), input.weight.data_ptr(), y.data_ptr()};
    if (with_sums) {
      const Tensor sums = at::empty({1, 2, y.size(1)}, y.options().dtype(at::kFloat));
      pointers.sums = sums.data_ptr<float>();
      problem.pass = ConvPass::kForwardWithSums;
      if (run(problem, pointers, y)) return {y, sums};
      problem.pass = ConvPass::kForward;
      pointers.sums = nullptr;
    }
    if (run(problem, pointers, y)) return y;
    return at::conv2d(input.x, input.weight, /*bias=*/{}, input.stride, input.padding)
        .contiguous(MemoryFormat::ChannelsLast);
  }

  Tensor data_gradient(const ConvInput& input, const Tensor& dy) override {
    const c10::cuda::CUDAGuard device(dy.device());
    const Tensor dx = at::empty(input.x.sizes(), dy.options(), MemoryFormat::ChannelsLast);
    const ConvPointers pointers{dx.data_ptr(), input.weight.data_ptr(), dy.data_ptr()};
    if (run(problem_of(ConvPass::kDataGradient, input), pointers, dy)) return dx;
    return std::get<0>(gradients_by_libtorch(input, dy, {true, false, false}));
  }

  Tensor weight_gradient(const ConvInput& input, const Tensor& dy) override {
    const c10::cuda::CUDAGuard device(dy.device());
    const Tensor dw = at::empty_like(input.weight);  // with its strides, or autograd would copy it
    const ConvPointers pointers{input.x.data_ptr(), dw.data_ptr(), dy.data_ptr()};
    if (run(problem_of(ConvPass::kWeightGradient, input), pointers, dy)) return dw;
    return std::get<1>(gradients_by_libtorch(input, dy, {false, true, false}));
  }

  int64_t tried() const override { return tried_; }

 private:
  static ConvProblem problem_of(ConvPass pass, const ConvInput& input) {
    const auto sizes = [](const Tensor& tensor) {
      return std::array{tensor.size(0), tensor.size(1), tensor.size(2), tensor.size(3)};
    };
    return {pass, input.x.scalar_type(), sizes(input.x), sizes(input.weight), input.stride, input.padding};
  }

  static std::tuple<Tensor, Tensor, Tensor> gradients_by_libtorch(const ConvInput& input, const Tensor& dy,
                                                                  std::array<bool, 3> wanted) {
    const std::array stride = {input.stride, input.stride};
    const std::array padding = {input.padding, input.padding};
    return at::convolution_backward(dy, input.x, input.weight, /*bias_sizes=*/at::OptionalIntArrayRef(),
                                    stride, padding, /*dilation=*/{1, 1}, /*transposed=*/false,
                                    /*output_padding=*/{0, 0}, /*groups=*/1, wanted);
  }

  // False, with nothing done, if there is no kernel or sums don't pay; `y`: of the output's sizes and type.
  bool run(const ConvProblem& problem, const ConvPointers& pointers, const Tensor& y) {
    auto found = plans_.find(problem);
    if (found == plans_.end()) found = plans_.emplace(problem, choose(problem, pointers, y)).first;
    const Plan& plan = found->second;
    if (plan.engine < 0) return false;
    plan.graph->run(plan.engine, pointers);
    return true;
  }

  Plan choose(const ConvProblem& problem, const ConvPointers& pointers, const Tensor& y) {
    const bool sums = problem.pass == ConvPass::kForwardWithSums;
    if (const auto choice = choices_.find(problem.name())) {
      if (sums && choice->engine.empty()) return {};
      Plan plan = plan_of(problem, *choice, pointers);
      if (plan.engine >= 0) return plan;
    }
    ++tried_;
    Plan plan = fastest_plan(problem, pointers);
    if (sums && plan.engine >= 0 && !pays(plan, problem, pointers, y)) plan = {};
    // What fails because the device has failed ends the run here: it is no choice to keep.
    C10_CUDA_CHECK(cudaStreamSynchronize(at::cuda::getCurrentCUDAStream()));
    if (plan.engine >= 0) {
      choices_.add(problem.name(), {plan.graph->engines()[plan.engine], plan.ms});
    } else if (sums) {
      choices_.add(problem.name(), {});
    }
    return plan;
  }

  // Whether sums made in passing take less time than the norm's own pass over the output.
  bool pays(const Plan& with_sums, ConvProblem problem, ConvPointers pointers, const Tensor& y) {
    const auto channels = [&](at::ScalarType type) {
      return at::zeros({y.size(1)}, y.options().dtype(type));
    };
    const BatchNorm norm{.running_mean = channels(at::kFloat),
                         .running_var = channels(at::kFloat),
                         .arrivals = channels(at::kInt)};
    const Tensor sums = at::zeros({1, 2, y.size(1)}, y.options().dtype(at::kFloat));
    const Tensor statistics = at::empty_like(sums[0]);
    const double from_sums_ms = least_ms(10, [&] { queue_statistics(y, sums, norm, statistics); });
    const double own_pass_ms = least_ms(10, [&] { queue_statistics(y, {}, norm, statistics); });
    problem.pass = ConvPass::kForward;
    pointers.sums = nullptr;
    run(problem, pointers, y);
    return with_sums.ms + from_sums_ms < plans_.at(problem).ms + own_pass_ms;
  }

  ConvChoices choices_;
  std::map<ConvProblem, Plan> plans_;
  int64_t tried_ = 0;
};

}  // namespace

ConvKernels* cudnn_conv_kernels() {
  // Never destroyed: at the process's end cuDNN may be gone before it.
  static auto* const kernels = new CudnnConvKernels(conv_choices_path(
      at::cuda::getCurrentDeviceProperties()->name, static_cast<int64_t>(cudnnGetVersion())));
  return kernels;
}

std::unique_ptr<ConvKernels> make_cudnn_conv_kernels(const std::string& choices_file) {
  return std::make_unique<CudnnConvKernels>(choices_file);
}

}  // namespace slipstream
