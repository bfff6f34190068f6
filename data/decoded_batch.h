#pragma once

#include <ATen/cuda/CUDAEvent.h>
#include <ATen/ops/empty.h>
#include <c10/cuda/CUDAStream.h>

#include <opencv2/core/cuda.hpp>
#include <span>
#include <vector>

#include "data/batch_decoder.h"

namespace slipstream {

/// Device memory for one batch's decoded pixels, one image behind the other. It grows to the largest batch
/// and is then used again and again.
class DecodedBatch {
 public:
  /// Makes room for an RGB image of each size. Blocks until what was marked as the last reader is done.
  void begin(c10::Device device, std::span<const cv::Size> sizes) {
    constexpr size_t kAlignment = 256;
    const auto bytes = [](cv::Size size) {
      return (size_t{3} * size.area() + kAlignment - 1) / kAlignment * kAlignment;
    };
    read_.synchronize();
    size_t total = 0;
    for (const cv::Size size : sizes) total += bytes(size);
    if (!memory_.defined() || static_cast<size_t>(memory_.numel()) < total) {
      memory_ = at::Tensor();
      memory_ =
          at::empty({static_cast<int64_t>(total + total / 4)}, at::TensorOptions(at::kByte).device(device));
    }
    images_.clear();
    auto* next = memory_.data_ptr<uint8_t>();
    for (const cv::Size size : sizes) {
      images_.emplace_back(size, CV_8UC3, next, size_t{3} * size.width);
      next += bytes(size);
    }
  }

  /// What is queued on `stream` by now is the last that reads.
  void mark_read(c10::cuda::CUDAStream stream) { read_.record(stream); }

  cv::cuda::GpuMat& operator[](size_t i) { return images_[i]; }
  std::span<const cv::cuda::GpuMat> images() const { return images_; }

 private:
  at::Tensor memory_;                     // uint8 [bytes]
  std::vector<cv::cuda::GpuMat> images_;  // views of it; empty where decoding failed
  at::cuda::CUDAEvent read_{cudaEventBlockingSync | cudaEventDisableTiming};
};

}  // namespace slipstream
