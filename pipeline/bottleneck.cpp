#include "pipeline/bottleneck.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <thread>

namespace slipstream {
namespace {

constexpr double kNegligible = 0.03;  // of the epoch's time: below it, waiting for data is not worth a change

double host_threads(const TrainSetup& setup) {
  return schedule_of(setup.options.mode).threads ? static_cast<double>(setup.options.workers) : 1;
}

std::string faster_compute(const TrainSetup& setup) {
  const TrainOptions& options = setup.options;
  if (!setup.device.is_cuda()) {
    if (!options.channels_last) return "try --channels-last";
    return "try a smaller --image-size or --arch, or a machine with a GPU";
  }
  if (options.amp == Amp::kOff) return "try --amp fp16";
  if (!options.channels_last) return "try --channels-last";
  if (!options.cudnn_benchmark && !options.deterministic) return "try --cudnn-benchmark";
  return "try a larger --batch-size, or another GPU";
}

/// What to add where the clock was held down most of the time: the GPU's own speed then depends on its power.
std::string power_limit(const GpuUse& gpu) {
  if (!gpu.clock_mhz || !gpu.top_clock_mhz || gpu.power_limited.value_or(0) < 0.5) return "";
  return fmt::format(" (its power limit holds the GPU's clock at {:.0f} of {:.0f} MHz)", *gpu.clock_mhz,
                     *gpu.top_clock_mhz);
}

std::string faster_input(const TrainSetup& setup, const char* slowest) {
  const TrainOptions& options = setup.options;
  if (options.mode == Mode::kSerial) return "try --mode overlapped";
  if (setup.device.is_cuda() && !setup.decode_on_device && slowest != std::string_view("reading")) {
    return "try --decode cuda";
  }
  if (options.mode == Mode::kPinned && setup.device.is_cuda()) return "try --mode overlapped";
  const int64_t cores = std::max(1U, std::thread::hardware_concurrency());
  if (options.workers < cores) return fmt::format("try --workers {}", cores);
  if (slowest == std::string_view("reading")) return "put the files on a faster disk or in memory";
  return "store smaller images, or use more cores";
}

}  // namespace

double input_seconds(const StageTimes& times, const TrainSetup& setup) {
  const double on_threads = times.read_s + times.decode_s + times.resize_s - times.device_input_s;
  return on_threads / host_threads(setup) + times.device_input_s + times.h2d_s;
}

double hidden_share(const StageTimes& times, const TrainSetup& setup) {
  const double input = input_seconds(times, setup);
  return input > 0 ? std::clamp(1 - times.data_wait_s / input, 0.0, 1.0) : 1;
}

bool is_input_bound(double data_wait_share) { return data_wait_share >= kNegligible; }

std::string bottleneck(const StageTimes& times, double wall_s, const TrainSetup& setup, const GpuUse& gpu) {
  const double waiting = wall_s > 0 ? times.data_wait_s / wall_s : 0;
  if (setup.options.synthetic) {
    return fmt::format("Compute-bound by design (no input){}; {}.", power_limit(gpu), faster_compute(setup));
  }
  if (!is_input_bound(waiting)) {
    const std::string input =
        schedule_of(setup.options.mode).threads
            ? fmt::format("the input is hidden to {:.1f}%", 100 * hidden_share(times, setup))
            : fmt::format("compute waits for data {:.1f}% of the time", 100 * waiting);
    return fmt::format("Compute-bound{}: {}; {}.", power_limit(gpu), input, faster_compute(setup));
  }
  const std::array<std::pair<double, const char*>, 4> stages = {{{times.read_s, "reading"},
                                                                 {times.decode_s, "decoding"},
                                                                 {times.resize_s, "resizing"},
                                                                 {times.h2d_s, "copying to the device"}}};
  const char* slowest = std::ranges::max_element(stages)->second;
  return fmt::format(
      "Input-bound: compute waits for data {:.0f}% of the time, most of the input's time is {}; {}.",
      100 * waiting, slowest, faster_input(setup, slowest));
}

}  // namespace slipstream
