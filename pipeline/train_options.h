#pragma once

#include <cstdint>
#include <string>

#include "data/exif_policy.h"
#include "data/interpolation.h"
#include "data/resizer.h"

namespace slipstream {

/// How input and compute share time; the table in docs/architecture.md says what each does.
enum class Mode { kSerial, kPinned, kOverlapped };

/// How faithfully the CPU decodes.
enum class CpuDecode {
  kExact,  ///< Pillow's pixels to the bit
  kFast,  ///< JPEGs at a half, a quarter or an eighth of their size where the crop allows, chroma as it comes
};

/// How faithfully the GPU decodes.
enum class GpuDecode {
  kFast,   ///< whatever its decoder takes, chroma as it comes
  kExact,  ///< what it makes Pillow's pixels of; the rest is the CPU's
};

/// Who decodes images. kAuto becomes one of the others in `resolve`.
enum class Decoder { kAuto, kCpu, kCuda };

/// The type of matrix work under LibTorch's autocast; weights and the optimizer stay float32.
enum class Amp { kOff, kFp16, kBf16 };

enum class LrSchedule { kCosine, kStep, kConstant };

/// What becomes of a file that can't be read or decoded.
enum class BadFiles {
  kStop,  ///< the run ends with a sentence that names it
  kSkip,  ///< it is listed in bad_files.txt, and its sample counts in no loss and no accuracy
};

/// Everything that a training run depends on: the command line's and the JSON file's counterpart.
/// Defaults stand here; flags, JSON keys, ranges and help in app/train_options_table.cpp.
struct TrainOptions {
  // Data
  std::string data;       // holds train/ and val/
  std::string train_dir;  // empty: data/train
  std::string val_dir;    // empty: data/val if it is there, else no validation
  BadFiles bad_files = BadFiles::kStop;
  Exif exif = Exif::kIgnore;

  // Model
  std::string arch = "resnet50";
  std::string weights;  // a state dictionary to start from; empty: random
  int64_t image_size = 224;
  int64_t val_resize = 0;  // short side before the centre crop, pixels; 0: 256/224 of image_size
  Interpolation val_interpolation = Interpolation::kBilinear;

  // Training
  int64_t epochs = 90;
  int64_t batch_size = 256;
  int64_t grad_accum_steps = 1;  // batches whose gradients are averaged for one step of the optimizer
  double lr = 0.1;
  LrSchedule lr_schedule = LrSchedule::kCosine;
  double warmup_epochs = 0;
  double momentum = 0.9;
  double weight_decay = 1e-4;
  double label_smoothing = 0;
  int64_t seed = 0;
  int64_t limit_batches = 0;  // per epoch, training and validation each; 0: all

  // Pipeline
  Mode mode = Mode::kOverlapped;
  Decoder decode = Decoder::kAuto;
  CpuDecode cpu_decode = CpuDecode::kExact;
  GpuDecode gpu_decode = GpuDecode::kFast;
  Resizer resize = Resizer::kFused;
  int64_t workers = -1;    // threads that read and decode; -1: one a core
  int64_t prefetch = 4;    // batches in the ring
  int64_t cpu_pixels = 0;  // images of more are decoded by the CPU though the GPU decodes; 0: none
  bool synthetic = false;  // random batches that stay on the device: the rate without input

  // Compute
  std::string device = "auto";  // auto, cpu, cuda, cuda:N
  Amp amp = Amp::kOff;
  bool channels_last = false;
  bool fused_norm = true;
  bool cudnn_benchmark = false;
  bool tf32 = false;
  bool deterministic = false;
  bool cuda_graph = false;  // the step as one graph

  // Output
  std::string out = "runs/train";
  std::string resume;         // a checkpoint file, or "auto": checkpoint.pt in `out` if it is there
  double alone_seconds = -1;  // of steps without input before the first epoch; -1: 3 on a GPU, 0 on the CPU
  int64_t log_interval = 20;  // steps between fetches of loss and accuracy from the device
  bool profile = false;       // marks for NVIDIA's profilers, and a window for them to record
  std::string trace;          // a file for what threads and streams did when; "auto": trace.json in `out`
  int64_t trace_steps = 50;   // that it records, from the first
  bool reports = true;        // false: no stage times, no steps.jsonl, no GPU sampling
};

}  // namespace slipstream
