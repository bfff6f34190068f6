#include <ATen/core/CachingHostAllocator.h>
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>

#include "data/error.h"
#include "pipeline/device_graph.h"
#include "pipeline/graph_memsets.h"

namespace slipstream {
namespace {
namespace allocator = c10::cuda::CUDACachingAllocator;

c10::CachingAllocator::Stat allocated() {
  constexpr auto kAggregate = static_cast<size_t>(c10::CachingAllocator::StatType::AGGREGATE);
  return allocator::getDeviceStats(c10::cuda::current_device()).allocated_bytes[kAggregate];
}

class CudaGraph : public DeviceGraph {
 public:
  explicit CudaGraph(const std::function<void()>& work) {
    allocator::emptyCache();
    allocator::resetPeakStats(c10::cuda::current_device());
    const int64_t before = allocated().current;
    try {
      // Other threads may go on calling CUDA meanwhile; autograd's thread queues on the recorded stream.
      graph_.capture_begin(pool_, cudaStreamCaptureModeThreadLocal);
      work();
    } catch (...) {
      end_after_failure();
      throw;
    }
    end();
    bytes_ = allocated().peak - before;
  }

  void replay() override { graph_.replay(); }
  int64_t bytes() const override { return bytes_; }

 private:
  void end() {
    try {
      graph_.capture_end();
    } catch (const c10::Error&) {
      forget_pool();
      throw;
    }
    graph_memsets_as_kernels(graph_.raw_cuda_graph());
    graph_.instantiate();
  }

  void end_after_failure() noexcept {
    try {
      graph_.capture_end();
    } catch (const c10::Error&) {  // a call that can't be recorded has ended the recording
      forget_pool();
    }
  }

  // LibTorch leaves both of its allocators' pools in use where the recording has failed, with a filter that
  // refers to the graph. What had not come to that is refused, and that is all right.
  void forget_pool() noexcept {
    const c10::DeviceIndex device = c10::cuda::current_device();
    at::HostAllocator& host = *at::getHostAllocator(at::kCUDA);
    const auto attempt = [](const auto& call) {
      try {
        call();
      } catch (const std::exception&) {
      }
    };
    attempt([&] { allocator::endAllocateToPool(device, pool_); });
    attempt([&] { allocator::releasePool(device, pool_); });
    attempt([&] { host.end_allocate_to_pool(pool_); });
    attempt([&] { host.release_pool(pool_); });
    cudaGetLastError();  // so that the next call doesn't report the failure again
  }

  c10::MempoolId_t pool_ = at::cuda::graph_pool_handle();
  at::cuda::CUDAGraph graph_{/*keep_graph=*/true};  // to be changed before it is instantiated
  int64_t bytes_ = 0;
};

}  // namespace

std::unique_ptr<DeviceGraph> record_graph(const std::function<void()>& work) {
  try {
    return std::make_unique<CudaGraph>(work);
  } catch (const c10::Error& error) {
    const std::string text = error.what_without_backtrace();
    throw Error(text.substr(0, text.find('\n')));
  }
}

}  // namespace slipstream
