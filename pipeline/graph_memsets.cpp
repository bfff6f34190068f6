#include "pipeline/graph_memsets.h"

#include <c10/cuda/CUDAException.h>

#include <optional>
#include <vector>

#include "pipeline/fill_kernel.h"

namespace slipstream {
namespace {

constexpr size_t kMostBytes = 1 << 20;

std::vector<cudaGraphNode_t> nodes_of(cudaGraph_t graph) {
  size_t count = 0;
  C10_CUDA_CHECK(cudaGraphGetNodes(graph, nullptr, &count));
  std::vector<cudaGraphNode_t> nodes(count);
  C10_CUDA_CHECK(cudaGraphGetNodes(graph, nodes.data(), &count));
  return nodes;
}

std::vector<cudaGraphNode_t> before(cudaGraphNode_t node) {
  size_t count = 0;
  C10_CUDA_CHECK(cudaGraphNodeGetDependencies(node, nullptr, nullptr, &count));
  std::vector<cudaGraphNode_t> nodes(count);
  C10_CUDA_CHECK(cudaGraphNodeGetDependencies(node, nodes.data(), nullptr, &count));
  return nodes;
}

std::vector<cudaGraphNode_t> after(cudaGraphNode_t node) {
  size_t count = 0;
  C10_CUDA_CHECK(cudaGraphNodeGetDependentNodes(node, nullptr, nullptr, &count));
  std::vector<cudaGraphNode_t> nodes(count);
  C10_CUDA_CHECK(cudaGraphNodeGetDependentNodes(node, nodes.data(), nullptr, &count));
  return nodes;
}

// What a node fills, if it is a memset that the kernel can do: of one row, and of equal bytes.
std::optional<FillJob> fill_of(cudaGraphNode_t node) {
  cudaGraphNodeType type{};
  C10_CUDA_CHECK(cudaGraphNodeGetType(node, &type));
  if (type != cudaGraphNodeTypeMemset) return std::nullopt;
  cudaMemsetParams params{};
  C10_CUDA_CHECK(cudaGraphMemsetNodeGetParams(node, &params));
  const size_t bytes = params.width * params.elementSize;
  const auto value = static_cast<unsigned char>(params.value);
  unsigned repeated = 0;
  for (unsigned i = 0; i < params.elementSize; ++i) repeated = repeated << 8 | value;
  if (params.height != 1 || bytes > kMostBytes || params.value != repeated) return std::nullopt;
  return FillJob{params.dst, bytes, value};
}

}  // namespace

void graph_memsets_as_kernels(cudaGraph_t graph) {
  for (cudaGraphNode_t memset : nodes_of(graph)) {
    std::optional<FillJob> job = fill_of(memset);
    if (!job) continue;
    const std::vector<cudaGraphNode_t> first = before(memset);
    const std::vector<cudaGraphNode_t> then = after(memset);
    void* arguments[1];
    const cudaKernelNodeParams params = fill_node(*job, arguments);
    cudaGraphNode_t kernel = nullptr;
    C10_CUDA_CHECK(cudaGraphAddKernelNode(&kernel, graph, first.data(), first.size(), &params));
    const std::vector<cudaGraphNode_t> from(then.size(), kernel);
    C10_CUDA_CHECK(cudaGraphAddDependencies(graph, from.data(), then.data(), nullptr, then.size()));
    C10_CUDA_CHECK(cudaGraphDestroyNode(memset));
  }
}

}  // namespace slipstream
