#include "pipeline/sample_preparer.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <opencv2/core.hpp>

#include "data/decode.h"
#include "data/error.h"
#include "data/exif.h"
#include "data/file_io.h"
#include "data/resize.h"
#include "pipeline/host_clock.h"
#include "pipeline/trace.h"

namespace slipstream {
namespace {

// Accounts for the time from its making to `stop`, where the slot has its times taken or is traced.
class Stopwatch {
 public:
  void stop(const Slot& slot, std::atomic<int64_t> InputTimes::*nanoseconds, TraceWork work, int track,
            uint32_t sample) const {
    if (!slot.times && slot.trace == nullptr) return;
    const double end_s = host_seconds();
    if (slot.times) (*slot.times).*nanoseconds += std::llround((end_s - begin_s_) * 1e9);
    if (slot.trace == nullptr) return;
    slot.trace->add({work, track, begin_s_, end_s, slot.sequence, &slot.pass->folder->samples[sample].path});
  }

 private:
  double begin_s_ = host_seconds();
};

uint32_t sample_at(const Slot& slot, int64_t position, const LoaderOptions& options) {
  return slot.pass->order[slot.batch * options.batch_size + position];
}

uint8_t* pixels_at(Slot& slot, int64_t position) {
  return slot.host_pixels.data_ptr<uint8_t>() + position * slot.host_pixels.stride(0);
}

}  // namespace

SamplePreparer::SamplePreparer(const LoaderOptions& options, std::unique_ptr<JpegProbe> probe, int track)
    : options_(options), probe_(std::move(probe)), track_(track) {}

CropPlan SamplePreparer::plan(const Pass& pass, uint32_t sample, int width, int height) const {
  if (!pass.training) {
    return centre_crop(width, height, options_.val_resize, options_.image_size, options_.val_interpolation);
  }
  Random random(options_.seed, Draw::kCrop, pass.epoch, sample);
  return random_resized_crop(width, height, options_.image_size, random);
}

// An image smaller than the sample is enlarged, and with it the chroma that the device repeats where the CPU
// interpolates: enough to change a network's score (docs/accuracy.md).
bool SamplePreparer::is_for_device(const JpegInfo& info) const {
  const int64_t pixels = int64_t{info.size.width} * info.size.height;
  return (info.exact || options_.gpu_decode == GpuDecode::kFast) &&
         pixels >= int64_t{options_.image_size} * options_.image_size &&
         (options_.cpu_pixels == 0 || pixels <= options_.cpu_pixels);
}

void SamplePreparer::prepare(Slot& slot, int64_t position) {
  const uint32_t sample = sample_at(slot, position, options_);
  slot.host_labels.data_ptr<int64_t>()[position] = slot.pass->folder->samples[sample].label;
  std::vector<uint8_t>& bytes = slot.files[position];
  EncodedImage& encoded = slot.encoded[position];
  encoded = {};
  const std::string path = slot.pass->folder->path_of(sample);
  try {
    const Stopwatch reading;
    read_file(path, bytes);
    if (probe_ && (options_.exif == Exif::kIgnore || exif_orientation(bytes).as_stored())) {
      const auto info = probe_->info_if_supported(bytes);
      if (info && is_for_device(*info)) {
        const CropPlan crop = plan(*slot.pass, sample, info->size.width, info->size.height);
        encoded = {bytes, info->size, crop, position};
        slot.host_flips.data_ptr<uint8_t>()[position] = crop.flip ? 1 : 0;
      }
    }
    reading.stop(slot, &InputTimes::read_ns, TraceWork::kRead, track_, sample);
  } catch (const Error& failure) {  // it names the path
    return report_bad_file(slot, position, path, failure.what());
  }
  if (encoded.bytes.empty()) decode_after_all(slot, position);
}

bool SamplePreparer::decode_after_all(Slot& slot, int64_t position) {
  slot.encoded[position] = {};
  const std::string path = slot.pass->folder->path_of(sample_at(slot, position, options_));
  try {
    decode_on_cpu(slot, position);
    return true;
  } catch (const Error& failure) {
    report_bad_file(slot, position, path, fmt::format("{}: {}", path, failure.what()));
  } catch (const cv::Exception& failure) {
    report_bad_file(slot, position, path, fmt::format("{}: OpenCV can't resize it: {}", path, failure.err));
  }
  return false;
}

void SamplePreparer::decode_on_cpu(Slot& slot, int64_t position) {
  const std::vector<uint8_t>& bytes = slot.files[position];
  const Stopwatch decoding;
  const uint32_t sample = sample_at(slot, position, options_);
  CropPlan crop_plan;
  const auto plan_of = [&](cv::Size size) {
    return crop_plan = plan(*slot.pass, sample, size.width, size.height);
  };
  const ScaledPart crop = decode_crop(bytes, plan_of);
  decoding.stop(slot, &InputTimes::decode_ns, TraceWork::kDecode, track_, sample);

  const Stopwatch resizing;
  slot.host_flips.data_ptr<uint8_t>()[position] = crop_plan.flip ? 1 : 0;
  if (options_.resizer == Resizer::kFused) {
    antialiased_resize_(crop.pixels, crop.part, crop_plan, options_.image_size, pixels_at(slot, position));
  } else {
    resize_window(crop.pixels, crop_plan, options_.image_size, resized_, pixels_at(slot, position));
  }
  resizing.stop(slot, &InputTimes::resize_ns, TraceWork::kResize, track_, sample);
}

ScaledPart SamplePreparer::decode_crop(std::span<const uint8_t> bytes, const PlanOf& plan_of) {
  const bool turned = options_.exif == Exif::kApply && !exif_orientation(bytes).as_stored();
  if (options_.cpu_decode == CpuDecode::kFast && is_jpeg(bytes) && !turned) {
    return decode_jpeg_fast(bytes, plan_of, decoded_);
  }
  const auto region_of = [&](cv::Size size) {
    const CropPlan crop = plan_of(size);
    return cv::Rect(crop.x, crop.y, crop.width, crop.height);
  };
  const cv::Mat crop = decode_image(bytes, options_.exif, region_of, decoded_);
  return {crop, cv::Rect2d(0, 0, crop.cols, crop.rows)};
}

void SamplePreparer::report_bad_file(Slot& slot, int64_t position, const std::string& path,
                                     const std::string& why) {
  if (options_.bad_files == BadFiles::kStop) {
    const std::string advice = "repair or remove it, or go on without such files with --bad-files skip";
    slot.fail(position, std::make_exception_ptr(Error(fmt::format("{}; {}", why, advice))));
    return;
  }
  std::memset(pixels_at(slot, position), 0, slot.host_pixels.stride(0));
  slot.host_flips.data_ptr<uint8_t>()[position] = 0;
  slot.host_labels.data_ptr<int64_t>()[position] = kIgnoredLabel;
  const std::lock_guard lock(slot.mutex);
  slot.bad_files.push_back({position, {path, why}});
}

}  // namespace slipstream
