#include "pipeline/graph_memsets.h"

#include <c10/cuda/CUDAException.h>

#include <functional>
#include <optional>
#include <vector>

#include "pipeline/fill_kernel.h"

namespace slipstream {
namespace {

constexpr size_t kMostBytes = 1 << 20;

// What `list` lists: first it is asked how many there are.
std::vector<cudaGraphNode_t> listed(const std::function<cudaError_t(cudaGraphNode_t*, size_t*)>& list) {
  size_t count = 0;
  C10_CUDA_CHECK(list(nullptr, &count));
  std::vector<cudaGraphNode_t> nodes(count);
  C10_CUDA_CHECK(list(nodes.data(), &count));
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
  const auto all = [&](auto* nodes, auto* count) { return cudaGraphGetNodes(graph, nodes, count); };
  for (cudaGraphNode_t memset : listed(all)) {
    std::optional<FillJob> job = fill_of(memset);
    if (!job) continue;
    const std::vector<cudaGraphNode_t> first = listed([&](auto* nodes, auto* count) {
      return cudaGraphNodeGetDependencies(memset, nodes, nullptr, count);
    });
    const std::vector<cudaGraphNode_t> then = listed([&](auto* nodes, auto* count) {
      return cudaGraphNodeGetDependentNodes(memset, nodes, nullptr, count);
    });
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
