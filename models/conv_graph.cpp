#include "models/conv_graph.h"

#include <ATen/cuda/CUDAContext.h>
#include <ATen/cudnn/Handle.h>
#include <ATen/ops/empty.h>
#include <cudnn_frontend.h>
#include <fmt/format.h>

#include "data/error.h"

namespace slipstream {
namespace {

namespace fe = cudnn_frontend;
using Attributes = fe::graph::Tensor_attributes;
using Tensor = std::shared_ptr<Attributes>;

// Names of the tensors in a graph.
enum Uid : int64_t { kX = 1, kWeight, kY, kSum, kSquares };

std::vector<int64_t> vector_of(const std::array<int64_t, 4>& sizes) { return {sizes.begin(), sizes.end()}; }

std::vector<int64_t> channels_last_strides(const std::array<int64_t, 4>& sizes) {
  const auto [n, c, h, w] = sizes;
  return {c * h * w, 1, c * w, c};
}

Attributes attributes(Uid uid, const std::array<int64_t, 4>& sizes, fe::DataType_t type) {
  return Attributes()
      .set_uid(uid)
      .set_dim(vector_of(sizes))
      .set_stride(channels_last_strides(sizes))
      .set_data_type(type);
}

void check(fe::error_t error) {
  if (error.is_bad()) throw Error(fmt::format("cuDNN: {}", error.get_message()));
}

}  // namespace

struct ConvGraph::Impl {
  fe::graph::Graph graph;
  std::array<int64_t, 4> x, weight, y;
  fe::DataType_t type;
  std::vector<int64_t> stride, padding;
  const std::vector<int64_t> dilation = {1, 1};

  explicit Impl(const ConvProblem& problem)
      : x(problem.x),
        weight(problem.weight),
        y(problem.y()),
        type(problem.type == c10::kHalf ? fe::DataType_t::HALF : fe::DataType_t::BFLOAT16),
        stride(2, problem.stride),
        padding(2, problem.padding) {
    graph.set_io_data_type(type)
        .set_intermediate_data_type(fe::DataType_t::FLOAT)
        .set_compute_data_type(fe::DataType_t::FLOAT);
  }

  template <typename Options>
  Options options() const {
    return Options().set_padding(padding).set_stride(stride).set_dilation(dilation);
  }

  void mark_output(const Tensor& tensor, Uid uid, const std::array<int64_t, 4>& sizes,
                   fe::DataType_t output_type) const {
    tensor->set_output(true)
        .set_uid(uid)
        .set_dim(vector_of(sizes))
        .set_stride(channels_last_strides(sizes))
        .set_data_type(output_type);
  }

  void add_forward(bool with_sums) {
    const Tensor out = graph.conv_fprop(graph.tensor(attributes(kX, x, type)),
                                        graph.tensor(attributes(kWeight, weight, type)),
                                        options<fe::graph::Conv_fprop_attributes>());
    mark_output(out, kY, y, type);
    if (!with_sums) return;
    const auto [sum, squares] = graph.genstats(out, fe::graph::Genstats_attributes());
    mark_output(sum, kSum, {1, y[1], 1, 1}, fe::DataType_t::FLOAT);
    mark_output(squares, kSquares, {1, y[1], 1, 1}, fe::DataType_t::FLOAT);
  }

  void add_data_gradient() {
    const Tensor dx = graph.conv_dgrad(graph.tensor(attributes(kY, y, type)),
                                       graph.tensor(attributes(kWeight, weight, type)),
                                       options<fe::graph::Conv_dgrad_attributes>());
    mark_output(dx, kX, x, type);
  }

  void add_weight_gradient() {
    const Tensor dw =
        graph.conv_wgrad(graph.tensor(attributes(kY, y, type)), graph.tensor(attributes(kX, x, type)),
                         options<fe::graph::Conv_wgrad_attributes>());
    mark_output(dw, kWeight, weight, type);
  }
};

ConvGraph::ConvGraph(const ConvProblem& problem) : impl_(std::make_unique<Impl>(problem)) {
  switch (problem.pass) {
    case ConvPass::kForward:
    case ConvPass::kForwardWithSums:
      impl_->add_forward(problem.pass == ConvPass::kForwardWithSums);
      break;
    case ConvPass::kDataGradient:
      impl_->add_data_gradient();
      break;
    case ConvPass::kWeightGradient:
      impl_->add_weight_gradient();
      break;
  }
  check(impl_->graph.validate());
  check(impl_->graph.build_operation_graph(at::native::getCudnnHandle()));
  check(impl_->graph.create_execution_plans({fe::HeurMode_t::A, fe::HeurMode_t::FALLBACK}));
  // Sums are to be float32 to their end: some engines add a split problem's parts in its own type.
  impl_->graph.deselect_numeric_notes({fe::NumericalNote_t::REDUCED_PRECISION_REDUCTION});
}

ConvGraph::~ConvGraph() = default;

std::vector<std::string> ConvGraph::engines() const {
  std::vector<std::string> names(impl_->graph.get_execution_plan_count());
  for (size_t i = 0; i < names.size(); ++i) {
    check(impl_->graph.get_plan_name_at_index(static_cast<int64_t>(i), names[i]));
  }
  return names;
}

bool ConvGraph::build(int64_t engine) { return impl_->graph.build_plan_at_index(engine).is_good(); }

void ConvGraph::run(int64_t engine, const ConvPointers& pointers) const {
  std::unordered_map<int64_t, void*> memory = {
      {kX, pointers.x}, {kWeight, pointers.weight}, {kY, pointers.y}};
  if (pointers.sums != nullptr) {
    memory[kSum] = pointers.sums;
    memory[kSquares] = pointers.sums + impl_->y[1];
  }
  const int64_t bytes = impl_->graph.get_workspace_size_plan_at_index(engine);
  const at::Tensor workspace = at::empty({bytes}, at::TensorOptions(at::kByte).device(at::kCUDA));
  check(
      impl_->graph.execute_plan_at_index(at::native::getCudnnHandle(), memory, workspace.data_ptr(), engine));
}

}  // namespace slipstream
