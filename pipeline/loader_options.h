#pragma once

#include <c10/core/ScalarType.h>
#include <c10/core/Stream.h>

#include <cstdint>

#include "pipeline/schedule.h"
#include "pipeline/train_options.h"

namespace slipstream {

class Trace;

/// What the input path needs to know; every choice is made (nothing is "auto").
struct LoaderOptions {
  Schedule schedule;
  bool decode_on_device = false;
  int64_t cpu_pixels = 0;  ///< images of more are the CPU's though the device decodes; 0: none is
  CpuDecode cpu_decode = CpuDecode::kExact;
  GpuDecode gpu_decode = GpuDecode::kFast;
  Resizer resizer = Resizer::kFused;
  Exif exif = Exif::kIgnore;
  int workers = 1;       ///< threads that read and decode, where the schedule has threads
  int64_t prefetch = 4;  ///< batches in the ring, where the schedule has threads
  int64_t batch_size = 1;
  int image_size = 224;
  int val_resize = 256;
  Interpolation val_interpolation = Interpolation::kBilinear;
  uint64_t seed = 0;
  BadFiles bad_files = BadFiles::kStop;
  c10::Stream compute;                 ///< the stream that batches are used on; says the device
  c10::ScalarType type = c10::kFloat;  ///< of the images
  bool channels_last = false;
  bool times = true;       ///< account for stage times
  Trace* trace = nullptr;  ///< where to record what the threads do; null: nowhere
};

}  // namespace slipstream
