#include <algorithm>

#include "data/fused_resize_kernel.h"
#include "data/pixel_value.cuh"

namespace slipstream {
namespace {

constexpr int kThreads = 224;

// The parts of a block's shared memory, for the largest filters of a batch.
struct SharedMemory {
  int column_taps = 0;
  int row_taps = 0;

  __host__ __device__ size_t column_weights() const { return sizeof(int32_t) * column_taps * kThreads; }
  __host__ __device__ size_t row_weights() const { return sizeof(int32_t) * row_taps * kStripRows; }
  __host__ __device__ size_t ring() const { return sizeof(uint32_t) * row_taps * kThreads; }
  __host__ __device__ size_t bytes() const { return column_weights() + row_weights() + ring(); }
};

// A block makes kStripRows rows of one image; a thread, every kThreads-th column of them.
template <typename Value>
__global__ void resize_batch(const __grid_constant__ FusedJob job, SharedMemory shared) {
  __shared__ Value values[3][256];  // every pixel normalised: two divisions fewer for each one made
  extern __shared__ int32_t memory[];
  int32_t* column_weights = memory;
  int32_t* row_weights = memory + shared.column_weights() / sizeof(int32_t);
  auto* ring = reinterpret_cast<uint32_t*>(row_weights + shared.row_weights() / sizeof(int32_t));

  const FusedImage& image = job.images[blockIdx.y];
  const int first = static_cast<int>(blockIdx.x) * kStripRows;
  const int end = min(first + kStripRows, job.size);
  const AntialiasFilter columns(image.width, image.resized_width, image.interpolation);
  const AntialiasFilter rows(image.height, image.resized_height, image.interpolation);
  const int thread = static_cast<int>(threadIdx.x);
  for (int i = thread; i < 3 * 256; i += kThreads) {
    values[i / 256][i % 256] = normalised<Value>(static_cast<uint8_t>(i % 256), i / 256);
  }
  for (int y = first + thread; y < end; y += kThreads) {
    rows.weigh(image.window_y + y, row_weights + (y - first) * rows.most_taps(), 1);
  }
  __syncthreads();

  Value* out = static_cast<Value*>(job.out) + blockIdx.y * job.stride_n;
  for (int x = thread; x < job.size; x += kThreads) {
    columns.weigh(image.window_x + x, column_weights + thread, kThreads);
    Value* column = out + (image.flip ? job.size - 1 - x : x) * job.stride_x;
    const auto store = [&](int y, int channel, uint8_t pixel) {
      column[y * job.stride_y + channel * job.stride_c] = values[channel][pixel];
    };
    resample_column(image, x, first, end, column_weights + thread, row_weights, ring + thread, kThreads,
                    store);
  }
}

template <typename Value>
cudaError_t launch(const FusedJob& job, const SharedMemory& shared, cudaStream_t stream) {
  const auto bytes = static_cast<int>(shared.bytes());
  const cudaError_t status =
      cudaFuncSetAttribute(resize_batch<Value>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (status != cudaSuccess) return status;
  const dim3 blocks((job.size + kStripRows - 1) / kStripRows, job.count);
  resize_batch<Value><<<blocks, kThreads, bytes, stream>>>(job, shared);
  return cudaGetLastError();
}

}  // namespace

cudaError_t launch_fused_resize(const FusedJob& job, cudaStream_t stream) {
  SharedMemory shared;
  for (int i = 0; i < job.count; ++i) {
    const FusedImage& image = job.images[i];
    shared.column_taps =
        std::max(shared.column_taps,
                 AntialiasFilter(image.width, image.resized_width, image.interpolation).most_taps());
    shared.row_taps =
        std::max(shared.row_taps,
                 AntialiasFilter(image.height, image.resized_height, image.interpolation).most_taps());
  }
  switch (job.type) {
    case PixelType::kFloat32:
      return launch<float>(job, shared, stream);
    case PixelType::kFloat16:
      return launch<__half>(job, shared, stream);
    case PixelType::kBfloat16:
      return launch<__nv_bfloat16>(job, shared, stream);
  }
  return cudaErrorInvalidValue;
}

}  // namespace slipstream
