#pragma once

#include <nvtx3/nvToolsExtMemCudaRt.h>

#include <opencv2/core/cuda.hpp>
#include <span>
#include <vector>

namespace slipstream {

/// Tells compute-sanitizer's initcheck, if it watches, that what was queued on `stream` writes all of
/// `images`, which have no gaps between their rows: it cannot see what JPEG engines write. Costs nothing
/// otherwise.
inline void mark_written(cudaStream_t stream, std::span<const cv::cuda::GpuMat> images) {
  static const nvtxDomainHandle_t domain = nvtxDomainCreateA("slipstream");
  std::vector<nvtxMemVirtualRangeDesc_t> ranges;
  for (const cv::cuda::GpuMat& image : images) {
    if (!image.empty()) ranges.push_back({image.step * image.rows, image.data});
  }
  nvtxMemMarkInitializedBatch_t batch{};
  batch.extCompatID = NVTX_EXT_COMPATID_MEM;
  batch.structSize = sizeof batch;
  batch.regionType = NVTX_MEM_TYPE_VIRTUAL_ADDRESS;
  batch.regionDescCount = ranges.size();
  batch.regionDescElementSize = sizeof(nvtxMemVirtualRangeDesc_t);
  batch.regionDescElements = ranges.data();
  nvtxMemCudaMarkInitialized(domain, stream, /*isPerThreadStream=*/0, &batch);
}

}  // namespace slipstream
