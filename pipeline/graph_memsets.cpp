#include "pipeline/graph_memsets.h"

#include <c10/cuda/CUDAException.h>

#include <algorithm>
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

std::vector<cudaGraphNode_t> before(cudaGraphNode_t node) {
  return listed(
      [&](auto* nodes, auto* count) { return cudaGraphNodeGetDependencies(node, nodes, nullptr, count); });
}

std::vector<cudaGraphNode_t> behind(cudaGraphNode_t node) {
  return listed(
      [&](auto* nodes, auto* count) { return cudaGraphNodeGetDependentNodes(node, nodes, nullptr, count); });
}

// The node that follows if it, too, is a fill, of the memory right behind this one's with the same value.
std::optional<cudaGraphNode_t> next_of_run(cudaGraphNode_t node, const FillJob& job) {
  const std::vector<cudaGraphNode_t> then = behind(node);
  if (then.size() != 1 || before(then.front()).size() != 1) return std::nullopt;
  const std::optional<FillJob> next = fill_of(then.front());
  const bool goes_on = next && next->to == static_cast<char*>(job.to) + job.bytes && next->value == job.value;
  return goes_on ? std::optional(then.front()) : std::nullopt;
}

}  // namespace

void graph_memsets_as_kernels(cudaGraph_t graph) {
  const auto all = [&](auto* nodes, auto* count) { return cudaGraphGetNodes(graph, nodes, count); };
  std::vector<cudaGraphNode_t> merged;
  for (cudaGraphNode_t memset : listed(all)) {
    if (std::ranges::find(merged, memset) != merged.end()) continue;  // destroyed, with the run's first
    std::optional<FillJob> job = fill_of(memset);
    if (!job) continue;
    const std::vector<cudaGraphNode_t> first = before(memset);
    while (const auto next = next_of_run(memset, *job)) {
      job->bytes += fill_of(*next)->bytes;
      C10_CUDA_CHECK(cudaGraphDestroyNode(memset));
      merged.push_back(memset = *next);
    }
    const std::vector<cudaGraphNode_t> then = behind(memset);
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
