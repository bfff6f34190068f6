#include <ATen/ops/empty.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include <algorithm>
#include <opencv2/core/cuda.hpp>
#include <opencv2/core/cuda_stream_accessor.hpp>
#include <opencv2/cudawarping.hpp>

#include "data/batch_decoder.h"
#include "data/fused_image.h"
#include "data/fused_resize_kernel.h"
#include "data/jpeg.h"
#include "data/nvjpeg_handles.h"
#include "data/pixel_type.h"
#include "data/resize.h"

namespace slipstream {
namespace {

constexpr nvjpegOutputFormat_t kInterleavedRgb = NVJPEG_OUTPUT_RGBI;
constexpr int kParserThreads = 4;  // of the GPU backend; the hardware backend needs none

// nvJPEG's objects belong to the device that is current when they are made.
NvjpegHandle create_handle(c10::Device device) {
  const c10::cuda::CUDAGuard guard(device);
  nvjpegHandle_t handle = nullptr;
  if (nvjpegCreateEx(NVJPEG_BACKEND_HARDWARE, nullptr, nullptr, NVJPEG_FLAGS_DEFAULT, &handle) ==
      NVJPEG_STATUS_SUCCESS) {
    return NvjpegHandle(handle);
  }
  check(nvjpegCreateEx(NVJPEG_BACKEND_GPU_HYBRID, nullptr, nullptr, NVJPEG_FLAGS_DEFAULT, &handle));
  return NvjpegHandle(handle);
}

class NvjpegProbe : public JpegProbe {
 public:
  explicit NvjpegProbe(const NvjpegHandle& handle)
      : handle_(handle.get()), stream_(make_nvjpeg_stream(handle)) {}

  std::optional<cv::Size> size_if_supported(std::span<const uint8_t> bytes) override {
    // The engines decode a truncated file to garbage without a word: libjpeg judges those.
    if (!is_jpeg(bytes) || !ends_as_jpeg(bytes)) return std::nullopt;
    unsigned width = 0;
    unsigned height = 0;
    unsigned components = 0;
    int unsupported = 1;
    const bool parsed =
        nvjpegJpegStreamParseHeader(handle_, bytes.data(), bytes.size(), stream_.get()) ==
            NVJPEG_STATUS_SUCCESS &&
        nvjpegJpegStreamGetFrameDimensions(stream_.get(), &width, &height) == NVJPEG_STATUS_SUCCESS &&
        nvjpegJpegStreamGetComponentsNum(stream_.get(), &components) == NVJPEG_STATUS_SUCCESS &&
        nvjpegDecodeBatchedSupported(handle_, stream_.get(), &unsupported) == NVJPEG_STATUS_SUCCESS;
    // Despite its name the last argument is 0 for an image that is supported.
    if (!parsed || unsupported != 0 || (components != 1 && components != 3)) return std::nullopt;
    return cv::Size(static_cast<int>(width), static_cast<int>(height));
  }

 private:
  nvjpegHandle_t handle_;
  NvjpegStream stream_;
};

class NvjpegBatchDecoder : public BatchDecoder {
 public:
  explicit NvjpegBatchDecoder(c10::Device device)
      : device_(device), handle_(create_handle(device)), state_(make_nvjpeg_state(handle_)) {}

  std::unique_ptr<JpegProbe> make_probe() const override { return std::make_unique<NvjpegProbe>(handle_); }

  std::vector<size_t> decode(c10::Stream stream, std::span<const EncodedImage> images) override;
  void resize_into(c10::Stream stream, std::span<const EncodedImage> images,
                   const at::Tensor& canvas) override;
  void finish_batch(c10::Stream stream, std::span<const EncodedImage> images, const at::Tensor& canvas,
                    const at::Tensor& flips, const at::Tensor& batch) override;

 private:
  void place_surfaces(std::span<const EncodedImage> images);
  bool decode_range(cudaStream_t stream, size_t first, size_t count);

  c10::Device device_;
  NvjpegHandle handle_;
  NvjpegState state_;
  size_t batch_size_ = 0;  // that state_ is initialised for
  at::Tensor memory_;      // uint8 [bytes], holds the surfaces of one batch; grows and is then kept
  std::vector<cv::cuda::GpuMat> surfaces_;
  std::vector<const unsigned char*> bytes_;
  std::vector<size_t> lengths_;
  std::vector<nvjpegImage_t> destinations_;
};

// Lays the batch's surfaces out one behind the other.
void NvjpegBatchDecoder::place_surfaces(std::span<const EncodedImage> images) {
  constexpr size_t kAlignment = 256;
  const auto aligned = [](size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; };
  size_t total = 0;
  for (const EncodedImage& image : images) total += aligned(size_t{3} * image.size.width * image.size.height);
  if (!memory_.defined() || static_cast<size_t>(memory_.numel()) < total) {
    memory_ = at::Tensor();
    memory_ =
        at::empty({static_cast<int64_t>(total + total / 4)}, at::TensorOptions(at::kByte).device(device_));
  }

  surfaces_.clear();
  bytes_.clear();
  lengths_.clear();
  destinations_.clear();
  auto* next = memory_.data_ptr<uint8_t>();
  for (const EncodedImage& image : images) {
    const size_t pitch = size_t{3} * image.size.width;
    surfaces_.emplace_back(image.size, CV_8UC3, next, pitch);
    bytes_.push_back(image.bytes.data());
    lengths_.push_back(image.bytes.size());
    destinations_.push_back({{next}, {pitch}});
    next += aligned(pitch * image.size.height);
  }
}

bool NvjpegBatchDecoder::decode_range(cudaStream_t stream, size_t first, size_t count) {
  if (batch_size_ != count) {
    check(nvjpegDecodeBatchedInitialize(handle_.get(), state_.get(), static_cast<int>(count), kParserThreads,
                                        kInterleavedRgb));
    batch_size_ = count;
  }
  const nvjpegStatus_t status = nvjpegDecodeBatched(handle_.get(), state_.get(), &bytes_[first],
                                                    &lengths_[first], &destinations_[first], stream);
  if (status == NVJPEG_STATUS_SUCCESS) return true;
  if (status != NVJPEG_STATUS_BAD_JPEG && status != NVJPEG_STATUS_JPEG_NOT_SUPPORTED) check(status);
  batch_size_ = 0;  // a failed batch leaves the state to be initialised again
  return false;
}

std::vector<size_t> NvjpegBatchDecoder::decode(c10::Stream stream, std::span<const EncodedImage> images) {
  std::vector<size_t> failed;
  if (images.empty()) return failed;
  const c10::cuda::CUDAStream cuda_stream(stream);
  const c10::cuda::CUDAStreamGuard guard(cuda_stream);
  // The hardware backend writes when it is called, whatever is queued on the stream that it is given; a wait
  // on the device doesn't help (torchcodec's pull request 1634 has the measurements, on H100 with nvJPEG 12.3
  // to 13.2). So the host waits until the surfaces' last reader, the stream's last work, is done. Not by
  // LibTorch's function: its sync-debug mode watches the training thread, and this is another.
  C10_CUDA_CHECK(cudaStreamSynchronize(cuda_stream.stream()));
  place_surfaces(images);
  if (decode_range(cuda_stream.stream(), 0, images.size())) return failed;
  for (size_t i = 0; i < images.size(); ++i) {  // one is bad: find it, keep the others
    if (!decode_range(cuda_stream.stream(), i, 1)) {
      failed.push_back(i);
      surfaces_[i] = cv::cuda::GpuMat();
    }
  }
  return failed;
}

void NvjpegBatchDecoder::resize_into(c10::Stream stream, std::span<const EncodedImage> images,
                                     const at::Tensor& canvas) {
  const c10::cuda::CUDAStreamGuard guard{c10::cuda::CUDAStream(stream)};
  cv::cuda::Stream cv_stream = cv::cuda::StreamAccessor::wrapStream(c10::cuda::CUDAStream(stream).stream());
  const int size = static_cast<int>(canvas.size(1));
  for (size_t i = 0; i < images.size(); ++i) {
    const CropPlan& plan = images[i].plan;
    cv::cuda::GpuMat& surface = surfaces_[i];
    if (surface.empty()) continue;
    // A header of its own for the rectangle: a view would let the resize sample beyond the crop's edges.
    cv::cuda::GpuMat crop(plan.height, plan.width, CV_8UC3, surface.ptr(plan.y) + size_t{3} * plan.x,
                          surface.step);
    cv::cuda::GpuMat target(size, size, CV_8UC3,
                            canvas.data_ptr<uint8_t>() + images[i].index * canvas.stride(0),
                            size_t{3} * size);
    const cv::Size resized(plan.resized_width, plan.resized_height);
    if (resized == target.size()) {
      cv::cuda::resize(crop, target, resized, 0, 0, opencv_interpolation(plan), cv_stream);
    } else {
      at::Tensor scratch = at::empty({resized.height, resized.width, 3}, canvas.options());
      cv::cuda::GpuMat whole(resized, CV_8UC3, scratch.data_ptr(), size_t{3} * resized.width);
      cv::cuda::resize(crop, whole, resized, 0, 0, opencv_interpolation(plan), cv_stream);
      whole(cv::Rect(plan.window_x, plan.window_y, size, size)).copyTo(target, cv_stream);
    }
  }
}

void NvjpegBatchDecoder::finish_batch(c10::Stream stream, std::span<const EncodedImage> images,
                                      const at::Tensor& canvas, const at::Tensor& flips,
                                      const at::Tensor& batch) {
  const c10::cuda::CUDAGuard device(batch.device());
  const int size = static_cast<int>(canvas.size(1));
  const auto* flip = flips.const_data_ptr<uint8_t>();
  const CropPlan as_it_is{0, 0, size, size, size, size};
  std::vector<FusedImage> parts;
  for (int64_t i = 0; i < batch.size(0); ++i) {
    const uint8_t* pixels = canvas.const_data_ptr<uint8_t>() + i * canvas.stride(0);
    parts.push_back(fused_image(pixels, 3 * size, as_it_is, flip[i] != 0));
  }
  for (size_t i = 0; i < images.size(); ++i) {
    const cv::cuda::GpuMat& surface = surfaces_[i];
    if (surface.empty()) continue;
    const CropPlan& plan = images[i].plan;
    const int64_t index = images[i].index;
    parts[index] = fused_image(surface.ptr(plan.y) + size_t{3} * plan.x, static_cast<int>(surface.step), plan,
                               flip[index] != 0);
  }

  FusedJob job{.type = pixel_type(batch.scalar_type()),
               .size = size,
               .stride_n = batch.stride(0),
               .stride_c = batch.stride(1),
               .stride_y = batch.stride(2),
               .stride_x = batch.stride(3)};
  for (size_t first = 0; first < parts.size(); first += kMostFusedImages) {
    job.count = static_cast<int>(std::min<size_t>(kMostFusedImages, parts.size() - first));
    std::copy_n(parts.begin() + static_cast<int64_t>(first), job.count, job.images);
    job.out = batch[static_cast<int64_t>(first)].data_ptr();
    C10_CUDA_CHECK(launch_fused_resize(job, c10::cuda::CUDAStream(stream).stream()));
  }
}

}  // namespace

std::unique_ptr<BatchDecoder> make_batch_decoder(c10::Device device) {
  return std::make_unique<NvjpegBatchDecoder>(device);
}

bool has_batch_decoder() { return true; }

}  // namespace slipstream
