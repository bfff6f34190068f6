#pragma once

#include <cuda_runtime_api.h>

namespace slipstream {

/// What graph_memsets_as_kernels puts in the place of a memset: writes `bytes` times `value` to `to`.
struct FillJob {
  void* to;
  size_t bytes;
  unsigned char value;
};

/// The kernel's node for a graph; `job` and `arguments` must outlive its making. arguments: one pointer.
cudaKernelNodeParams fill_node(FillJob& job, void* (&arguments)[1]);

}  // namespace slipstream
