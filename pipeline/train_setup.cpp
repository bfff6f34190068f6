#include "pipeline/train_setup.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "data/batch_decoder.h"
#include "data/error.h"
#include "pipeline/device.h"
#include "pipeline/profiler.h"

namespace slipstream {
namespace {
namespace fs = std::filesystem;

void find_folders(TrainSetup& setup) {
  const TrainOptions& options = setup.options;
  if (options.synthetic) return;
  if (options.data.empty() && options.train_dir.empty()) {
    throw UsageError("no images: name a folder with train/ and val/ by --data, or one by --train-dir");
  }
  setup.train_dir =
      options.train_dir.empty() ? (fs::path(options.data) / "train").string() : options.train_dir;
  if (!fs::exists(setup.train_dir)) {
    throw UsageError(
        fmt::format("{}: no such folder; --data names a folder that holds train/ and val/", setup.train_dir));
  }
  if (!options.val_dir.empty()) {
    setup.val_dir = options.val_dir;
    if (!fs::exists(setup.val_dir)) {
      throw UsageError(fmt::format("--val-dir {}: no such folder", setup.val_dir));
    }
  } else if (!options.data.empty() && fs::exists(fs::path(options.data) / "val")) {
    setup.val_dir = (fs::path(options.data) / "val").string();
  }
}

bool decides_for_device(const TrainOptions& options, c10::Device device) {
  switch (options.decode) {
    case Decoder::kAuto:
      return can_decode_on(device);
    case Decoder::kCpu:
      return false;
    case Decoder::kCuda:
      if (!has_batch_decoder()) {
        throw UsageError(
            "--decode cuda: this build has no CUDA; build the preset 'cuda' (./quickstart.sh --cuda)");
      }
      if (!device.is_cuda())
        throw UsageError("--decode cuda decodes on the GPU that trains: choose --device cuda");
      return true;
  }
  return false;
}

void check_profile(const TrainOptions& options, c10::Device device) {
  if (!options.profile) return;
  if (!has_profiler_marks()) {
    throw UsageError(
        "--profile: this build has no CUDA, whose profilers it is for; build the preset 'cuda' "
        "(./quickstart.sh --cuda)");
  }
  if (!device.is_cuda()) throw UsageError("--profile is for a GPU's profilers: choose --device cuda");
}

// On a GPU the cores are free to decode; on the CPU they share with the training.
int64_t default_workers(c10::Device device) {
  const int64_t cores = std::max(1U, std::thread::hardware_concurrency());
  return device.is_cuda() ? cores : std::max<int64_t>(1, cores / 2);
}

}  // namespace

TrainSetup resolve(const TrainOptions& options) {
  TrainSetup setup{options, parse_device(options.device)};
  TrainOptions& resolved = setup.options;
  if (resolved.val_resize == 0) resolved.val_resize = (resolved.image_size * 256 + 112) / 224;
  if (resolved.val_resize < resolved.image_size) {
    throw UsageError(
        fmt::format("--val-resize {} is less than --image-size {}: the centre crop would not fit",
                    resolved.val_resize, resolved.image_size));
  }
  if (resolved.workers < 0) resolved.workers = default_workers(setup.device);
  if (resolved.workers == 0) {
    throw UsageError("--workers 0: input without threads is --mode serial");
  }
  if (resolved.deterministic && resolved.cudnn_benchmark) {
    throw UsageError(
        "--deterministic and --cudnn-benchmark exclude each other: the benchmark's choice varies");
  }
  if (resolved.alone_seconds < 0) {
    resolved.alone_seconds = setup.device.is_cuda() && options.reports && !options.synthetic ? 3 : 0;
  }
  if (resolved.resize == Resizer::kOpencv) {
    if (resolved.val_interpolation != Interpolation::kBilinear) {
      throw UsageError("--val-interpolation bicubic is --resize fused's: leave --resize opencv out");
    }
    if (resolved.cpu_decode == CpuDecode::kFast) {
      throw UsageError("--cpu-decode fast needs --resize fused: leave --resize opencv out");
    }
  }
  if (!options.trace.empty() && !options.reports) {
    throw UsageError("--trace needs the times that --no-reports leaves out: take one of them away");
  }
  check_profile(options, setup.device);
  setup.decode_on_device = decides_for_device(options, setup.device);
  find_folders(setup);
  return setup;
}

bool can_decode_on(c10::Device device) { return device.is_cuda() && has_batch_decoder(); }

LoaderOptions TrainSetup::loader_options(c10::Stream compute) const {
  return {.schedule = schedule_of(options.mode),
          .decode_on_device = decode_on_device,
          .cpu_pixels = options.cpu_pixels,
          .cpu_decode = options.cpu_decode,
          .gpu_decode = options.gpu_decode,
          .resizer = options.resize,
          .exif = options.exif,
          .workers = static_cast<int>(options.workers),
          .prefetch = options.prefetch,
          .batch_size = options.batch_size,
          .image_size = static_cast<int>(options.image_size),
          .val_resize = static_cast<int>(options.val_resize),
          .val_interpolation = options.val_interpolation,
          .seed = static_cast<uint64_t>(options.seed),
          .bad_files = options.bad_files,
          .compute = compute,
          .type = compute_type(),
          .channels_last = options.channels_last,
          .times = options.reports};
}

c10::ScalarType TrainSetup::compute_type() const {
  switch (options.amp) {
    case Amp::kFp16:
      return c10::kHalf;
    case Amp::kBf16:
      return c10::kBFloat16;
    case Amp::kOff:
      break;
  }
  return c10::kFloat;
}

std::string TrainSetup::decoder_name() const {
  if (options.synthetic) return "none";
  return decode_on_device ? "cuda" : "cpu";
}

std::string TrainSetup::schedule_name() const {
  if (options.synthetic) return "synthetic";
  return mode_name(options.mode) + (decode_on_device ? ", GPU decode" : ", CPU decode");
}

std::string mode_name(Mode mode) {
  switch (mode) {
    case Mode::kSerial:
      return "serial";
    case Mode::kPinned:
      return "pinned";
    case Mode::kOverlapped:
      break;
  }
  return "overlapped";
}

}  // namespace slipstream
