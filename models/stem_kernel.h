#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace slipstream {

/// Forms images as models/stem.h says: 16-bit values, channels last, dense, on 16-byte boundaries. `rows` and
/// `columns` are half of the images'. A launch queues one kernel on `stream` and returns the launch's status.
struct StemJob {
  const void* images;
  void* formed;
  int64_t count;
  int rows, columns;
};
cudaError_t launch_fold(const StemJob& job, cudaStream_t stream);
cudaError_t launch_pad(const StemJob& job, cudaStream_t stream);

}  // namespace slipstream
