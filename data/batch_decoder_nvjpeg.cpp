#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <opencv2/core/cuda_stream_accessor.hpp>
#include <opencv2/cudawarping.hpp>

#include "data/batch_decoder.h"
#include "data/decoded_batch.h"
#include "data/fused_image.h"
#include "data/fused_resize_kernel.h"
#include "data/initcheck.h"
#include "data/jpeg.h"
#include "data/nvjpeg_handles.h"
#include "data/pixel_type.h"
#include "data/resize.h"

namespace slipstream {
namespace {

constexpr nvjpegOutputFormat_t kInterleavedRgb = NVJPEG_OUTPUT_RGBI;
constexpr int kParserThreads = 4;  // of the GPU backend; the hardware backend needs none

// nvJPEG's objects belong to the device that is current when they are made.
nvjpegStatus_t create_handle(c10::Device device, nvjpegBackend_t backend, NvjpegHandle& handle) {
  const c10::cuda::CUDAGuard guard(device);
  nvjpegHandle_t made = nullptr;
  const nvjpegStatus_t status = nvjpegCreateEx(backend, nullptr, nullptr, NVJPEG_FLAGS_DEFAULT, &made);
  if (status == NVJPEG_STATUS_SUCCESS) handle.reset(made);
  return status;
}

class NvjpegProbe : public JpegProbe {
 public:
  NvjpegProbe(const NvjpegHandle& handle, bool has_engines)
      : handle_(handle.get()), has_engines_(has_engines), stream_(make_nvjpeg_stream(handle)) {}

  std::optional<JpegInfo> info_if_supported(std::span<const uint8_t> bytes) override {
    // The engines decode a truncated file to garbage without a word: libjpeg judges those.
    if (!is_jpeg(bytes) || !ends_as_jpeg(bytes)) return std::nullopt;
    const JpegColour colour = jpeg_colour(bytes);
    if (colour == JpegColour::kOther) return std::nullopt;
    unsigned width = 0;
    unsigned height = 0;
    int unsupported = 1;
    const bool parsed =
        nvjpegJpegStreamParseHeader(handle_, bytes.data(), bytes.size(), stream_.get()) ==
            NVJPEG_STATUS_SUCCESS &&
        nvjpegJpegStreamGetFrameDimensions(stream_.get(), &width, &height) == NVJPEG_STATUS_SUCCESS &&
        nvjpegDecodeBatchedSupported(handle_, stream_.get(), &unsupported) == NVJPEG_STATUS_SUCCESS;
    // Despite its name the last argument is 0 for an image that is supported.
    if (!parsed || unsupported != 0) return std::nullopt;
    return JpegInfo{{static_cast<int>(width), static_cast<int>(height)},
                    has_engines_ && colour == JpegColour::kFullChroma};
  }

 private:
  nvjpegHandle_t handle_;
  bool has_engines_;
  NvjpegStream stream_;
};

cv::Rect crop_of(const EncodedImage& image) {
  return {image.plan.x, image.plan.y, image.plan.width, image.plan.height};
}

class NvjpegBatchDecoder : public BatchDecoder {
 public:
  explicit NvjpegBatchDecoder(c10::Device device) : device_(device) {
    has_engines_ = create_handle(device, NVJPEG_BACKEND_HARDWARE, handle_) == NVJPEG_STATUS_SUCCESS;
    if (!has_engines_) check(create_handle(device, NVJPEG_BACKEND_GPU_HYBRID, handle_));
    state_ = make_nvjpeg_state(handle_);
  }

  std::unique_ptr<JpegProbe> make_probe() const override {
    return std::make_unique<NvjpegProbe>(handle_, has_engines_);
  }
  bool has_engines() const override { return has_engines_; }

  std::vector<size_t> decode(c10::Stream stream, std::span<const EncodedImage> images) override;
  void resize_into(c10::Stream stream, std::span<const EncodedImage> images,
                   const at::Tensor& canvas) override;
  void finish_batch(c10::Stream stream, std::span<const EncodedImage> images, const at::Tensor& canvas,
                    const at::Tensor& flips, const at::Tensor& batch) override;

 private:
  /// What is decoded of an image: the crop alone, where the backend can.
  cv::Rect region_of(const EncodedImage& image) const {
    return has_engines_ ? crop_of(image) : cv::Rect({0, 0}, image.size);
  }
  DecodedBatch& decoded() { return batches_[current_]; }
  cv::cuda::GpuMat crop(const EncodedImage& image, size_t position);
  void list_for_nvjpeg(std::span<const EncodedImage> images);
  bool decode_listed(cudaStream_t stream, size_t first, size_t count);

  c10::Device device_;
  NvjpegHandle handle_;
  bool has_engines_;
  NvjpegState state_;
  size_t batch_size_ = 0;                // that state_ is initialised for
  std::vector<NvjpegParams> regions_;    // one an image of the largest batch
  std::array<DecodedBatch, 2> batches_;  // used in turn
  size_t current_ = 0;

  // The batch as nvJPEG takes it, in its order.
  std::vector<size_t> order_;
  std::vector<const unsigned char*> bytes_;
  std::vector<size_t> lengths_;
  std::vector<nvjpegImage_t> destinations_;
  std::vector<nvjpegDecodeParams_t> params_;
};

// Engines take images in the order given: the largest come first, so that none is begun when the others are
// done already.
void NvjpegBatchDecoder::list_for_nvjpeg(std::span<const EncodedImage> images) {
  order_.resize(images.size());
  std::iota(order_.begin(), order_.end(), 0);
  std::ranges::stable_sort(order_, std::greater(), [&](size_t i) { return images[i].size.area(); });
  while (regions_.size() < images.size()) regions_.push_back(make_nvjpeg_params(handle_, kInterleavedRgb));
  bytes_.clear();
  lengths_.clear();
  destinations_.clear();
  params_.clear();
  for (const size_t i : order_) {
    const cv::Rect region = region_of(images[i]);
    cv::cuda::GpuMat& surface = decoded()[i];
    bytes_.push_back(images[i].bytes.data());
    lengths_.push_back(images[i].bytes.size());
    destinations_.push_back({{surface.data}, {surface.step}});
    nvjpegDecodeParams_t params = regions_[params_.size()].get();
    if (has_engines_)
      check(nvjpegDecodeParamsSetROI(params, region.x, region.y, region.width, region.height));
    params_.push_back(params);
  }
}

bool NvjpegBatchDecoder::decode_listed(cudaStream_t stream, size_t first, size_t count) {
  if (batch_size_ != count) {
    check(nvjpegDecodeBatchedInitialize(handle_.get(), state_.get(), static_cast<int>(count), kParserThreads,
                                        kInterleavedRgb));
    batch_size_ = count;
  }
  const nvjpegStatus_t status =
      nvjpegDecodeBatchedEx(handle_.get(), state_.get(), &bytes_[first], &lengths_[first],
                            &destinations_[first], &params_[first], stream);
  // Nothing of it is under way when the next begins: docs/performance.md says what happened otherwise. Not by
  // LibTorch's function: its sync-debug mode watches the training thread, and this is another.
  C10_CUDA_CHECK(cudaStreamSynchronize(stream));
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
  // to 13.2). So the host waits for the surfaces' last reader, and for the stream.
  C10_CUDA_CHECK(cudaStreamSynchronize(cuda_stream.stream()));
  current_ = 1 - current_;
  std::vector<cv::Size> sizes;
  for (const EncodedImage& image : images) sizes.push_back(region_of(image).size());
  decoded().begin(device_, sizes);
  list_for_nvjpeg(images);
  if (!decode_listed(cuda_stream.stream(), 0, images.size())) {
    for (size_t i = 0; i < images.size(); ++i) {  // one is bad: find it, keep the others
      if (decode_listed(cuda_stream.stream(), i, 1)) continue;
      failed.push_back(order_[i]);
      decoded()[order_[i]] = cv::cuda::GpuMat();
    }
    std::ranges::sort(failed);
  }
  mark_written(cuda_stream.stream(), decoded().images());
  return failed;
}

// A header of its own for the rectangle: a view would let OpenCV's resize sample beyond the crop's edges.
cv::cuda::GpuMat NvjpegBatchDecoder::crop(const EncodedImage& image, size_t position) {
  cv::cuda::GpuMat& surface = decoded()[position];
  const cv::Rect crop = crop_of(image) - region_of(image).tl();
  return {crop.height, crop.width, CV_8UC3, surface.ptr(crop.y) + size_t{3} * crop.x, surface.step};
}

void NvjpegBatchDecoder::resize_into(c10::Stream stream, std::span<const EncodedImage> images,
                                     const at::Tensor& canvas) {
  const c10::cuda::CUDAStreamGuard guard{c10::cuda::CUDAStream(stream)};
  cv::cuda::Stream cv_stream = cv::cuda::StreamAccessor::wrapStream(c10::cuda::CUDAStream(stream).stream());
  const int size = static_cast<int>(canvas.size(1));
  for (size_t i = 0; i < images.size(); ++i) {
    if (decoded()[i].empty()) continue;
    const CropPlan& plan = images[i].plan;
    const cv::cuda::GpuMat source = crop(images[i], i);
    cv::cuda::GpuMat target(size, size, CV_8UC3,
                            canvas.data_ptr<uint8_t>() + images[i].index * canvas.stride(0),
                            size_t{3} * size);
    const cv::Size resized(plan.resized_width, plan.resized_height);
    if (resized == target.size()) {
      cv::cuda::resize(source, target, resized, 0, 0, opencv_interpolation(plan), cv_stream);
    } else {
      at::Tensor scratch = at::empty({resized.height, resized.width, 3}, canvas.options());
      cv::cuda::GpuMat whole(resized, CV_8UC3, scratch.data_ptr(), size_t{3} * resized.width);
      cv::cuda::resize(source, whole, resized, 0, 0, opencv_interpolation(plan), cv_stream);
      whole(cv::Rect(plan.window_x, plan.window_y, size, size)).copyTo(target, cv_stream);
    }
  }
  decoded().mark_read(c10::cuda::CUDAStream(stream));
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
    if (decoded()[i].empty()) continue;
    const cv::cuda::GpuMat source = crop(images[i], i);
    const int64_t index = images[i].index;
    parts[index] = fused_image(source.data, static_cast<int>(source.step), images[i].plan, flip[index] != 0);
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
  if (!images.empty()) decoded().mark_read(c10::cuda::CUDAStream(stream));
}

}  // namespace

std::unique_ptr<BatchDecoder> make_batch_decoder(c10::Device device) {
  return std::make_unique<NvjpegBatchDecoder>(device);
}

bool has_batch_decoder() { return true; }

}  // namespace slipstream
