#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Stream.h>

#include <cstdint>
#include <memory>
#include <opencv2/core/types.hpp>
#include <optional>
#include <span>
#include <vector>

#include "data/crop_plan.h"

namespace slipstream {

/// An encoded image on its way to `index` of a batch. The bytes stay the caller's until `decode` returns.
struct EncodedImage {
  std::span<const uint8_t> bytes;
  cv::Size size;  ///< of the whole image, as JpegProbe told
  CropPlan plan;
  int64_t index = 0;
};

/// What is known of a JPEG that the device's decoder takes.
struct JpegInfo {
  cv::Size size;
  bool exact;  ///< the device makes libjpeg's pixels of it, as its engines do of 4:4:4
};

/// Tells from a file's first bytes whether the device's decoder takes it. One for each thread that asks.
class JpegProbe {
 public:
  virtual ~JpegProbe() = default;

  /// Nothing if it is no whole JPEG, or none that the device decodes: then it is the CPU's. The answer
  /// depends on the bytes and the machine's decoder alone.
  virtual std::optional<JpegInfo> info_if_supported(std::span<const uint8_t> bytes) = 0;
};

/// Decodes and resizes batches on a GPU: nvJPEG's hardware engines (its GPU backend where there are none),
/// then one kernel or OpenCV's CUDA resize. One user at a time; work is queued on the streams given. It has
/// surfaces for two batches: one may be decoded while the resize of the one before still runs.
class BatchDecoder {
 public:
  virtual ~BatchDecoder() = default;

  virtual std::unique_ptr<JpegProbe> make_probe() const = 0;

  /// Whether there are engines, without which nothing is exact.
  virtual bool has_engines() const = 0;

  /// Decodes to RGB surfaces; blocks the calling thread until they are whole. First it waits until the last
  /// resize of the batch before the last is done, and all that is queued on `stream`. Returns the positions
  /// in `images` that failed, ascending: the CPU may say why.
  virtual std::vector<size_t> decode(c10::Stream stream, std::span<const EncodedImage> images) = 0;

  // One of these follows a decode, with the same images.

  /// Queues the crop and OpenCV's resize of what `decode` decoded into canvas[index]; canvas: uint8 [N,S,S,3]
  /// on the device. Entries that failed are left alone.
  virtual void resize_into(c10::Stream stream, std::span<const EncodedImage> images,
                           const at::Tensor& canvas) = 0;

  /// Queues all that is left to do for a batch in one kernel: crops and resizes what `decode` decoded as
  /// Pillow does, takes every other sample from canvas[index], which is resized already, flips and
  /// normalises.
  ///
  /// canvas: uint8 [N,S,S,3] on the device; flips: uint8 [N] on the host, read before this returns; batch:
  /// [N,3,S,S] on the device, of any strides. Throws c10::Error if an image is dozens of times as large as S.
  virtual void finish_batch(c10::Stream stream, std::span<const EncodedImage> images,
                            const at::Tensor& canvas, const at::Tensor& flips, const at::Tensor& batch) = 0;
};

/// Throws Error if this build or the device has no decoder.
std::unique_ptr<BatchDecoder> make_batch_decoder(c10::Device device);

/// Whether this build can decode on a GPU at all.
bool has_batch_decoder();

}  // namespace slipstream
