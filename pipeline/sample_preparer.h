#pragma once

#include <memory>
#include <opencv2/core/mat.hpp>

#include "data/antialias.h"
#include "data/jpeg.h"
#include "pipeline/slot.h"

namespace slipstream {

/// Does the host's part of one sample: read its file and, where the CPU decodes, decode, crop and resize it.
/// One for each thread; it holds that thread's scratch memory.
class SamplePreparer {
 public:
  /// `probe` says which files the device decodes; null if the CPU decodes all.
  /// `track`: of its thread, in a trace.
  SamplePreparer(const LoaderOptions& options, std::unique_ptr<JpegProbe> probe, int track = 0);

  /// Fills `position` of the slot: its label and flip, and either its pixels or its encoded image.
  /// A bad file is dealt with as the options say: reported through the slot, never thrown.
  void prepare(Slot& slot, int64_t position);

  /// Decodes on the CPU what the device failed at, into the slot's host pixels. True if there are pixels,
  /// false if the file is bad; reported as in `prepare`.
  bool decode_after_all(Slot& slot, int64_t position);

 private:
  bool is_for_device(const JpegInfo& info) const;
  CropPlan plan(const Pass& pass, uint32_t sample, int width, int height) const;
  void decode_on_cpu(Slot& slot, int64_t position);
  ScaledPart decode_crop(std::span<const uint8_t> bytes, const PlanOf& plan_of);
  void report_bad_file(Slot& slot, int64_t position, const std::string& path, const std::string& why);

  LoaderOptions options_;
  std::unique_ptr<JpegProbe> probe_;
  int track_;
  cv::Mat decoded_;
  cv::Mat resized_;
  AntialiasedResize antialiased_resize_;
};

}  // namespace slipstream
