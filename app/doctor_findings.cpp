#include "app/doctor_findings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "app/units.h"

namespace slipstream {
namespace {

constexpr int64_t kFewOpenFiles = 1024;
constexpr int64_t kFewCores = 8;
constexpr int64_t kLittleMemory = 4'000'000'000;
constexpr int64_t kPhotosPerCore = 500;  // decoded a second, 109 kB mean

using Findings = std::vector<std::string>;

/// Machine code runs on its own major version from its minor version up.
bool has_code_for(const Gpu& gpu, const std::vector<int>& architectures) {
  return std::any_of(architectures.begin(), architectures.end(), [&](int architecture) {
    return architecture / 10 == gpu.major && architecture % 10 <= gpu.minor;
  });
}

void add_build(Findings& findings, const GpuSupport& support, const GpuMachine& gpus) {
  if (!support.cuda && gpus.device_file) {
    findings.push_back(
        "This machine has an NVIDIA GPU and this build is for CPUs: build the preset 'cuda' "
        "(./quickstart.sh --cuda) to train on the GPU.");
  }
  if (support.cuda && gpus.gpus.empty()) {
    findings.push_back(
        gpus.device_file
            ? fmt::format(
                  "There is an NVIDIA GPU, but CUDA can't use it ({}): check that nvidia-smi works, "
                  "that the driver is of series 580 or later, and that a container was given the GPU.",
                  gpus.problem)
            : "This is a CUDA build and there is no NVIDIA GPU: it trains on the CPU, for which the preset "
              "'cpu' "
              "is smaller and starts faster; in a container, check that it was given the GPU.");
  }
  for (const Gpu& gpu : gpus.gpus) {
    if (has_code_for(gpu, support.architectures)) continue;
    findings.push_back(fmt::format(
        "This build has GPU code for {} only, and the {} is {}{}: kernels may fail to start; set "
        "SLIPSTREAM_CUDA_ARCHITECTURE={}.{}, run scripts/setup.sh --cuda and build again.",
        fmt::join(support.architectures, ", "), gpu.name, gpu.major, gpu.minor, gpu.major, gpu.minor));
  }
}

void add_decoding(Findings& findings, const MachineFacts& machine, const GpuMachine& gpus) {
  const bool engines =
      std::any_of(gpus.gpus.begin(), gpus.gpus.end(), [](const Gpu& gpu) { return gpu.jpeg_engines != 0; });
  if (!gpus.gpus.empty() && !engines) {
    findings.push_back(
        "The GPU has no JPEG engines: --decode cuda takes time from training there, so compare "
        "it with --decode cpu.");
  }
  if (!engines && machine.cores < kFewCores) {
    findings.push_back(fmt::format(
        "{} to decode on: expect at most about {} photographs of ImageNet's size a second; smaller files, or "
        "a GPU with JPEG engines, give more.",
        machine.cores == 1 ? "There is one core" : fmt::format("There are {} cores", machine.cores),
        rounded(static_cast<double>(machine.cores * kPhotosPerCore))));
  }
}

void add_limits(Findings& findings, const MachineFacts& machine) {
  if (machine.open_files && *machine.open_files < kFewOpenFiles) {
    findings.push_back(fmt::format(
        "Only {} files may be open at once, which many --workers can exceed: raise it with ulimit -n 4096.",
        *machine.open_files));
  }
  if (machine.available_bytes < kLittleMemory) {
    findings.push_back(
        fmt::format("Only {} of memory is free: if a run ends for want of it, lower --batch-size, --prefetch "
                    "or --workers.",
                    bytes_text(machine.available_bytes)));
  }
}

}  // namespace

std::vector<std::string> doctor_findings(const GpuSupport& support, const MachineFacts& machine,
                                         const GpuMachine& gpus) {
  Findings findings;
  add_build(findings, support, gpus);
  add_limits(findings, machine);
  add_decoding(findings, machine, gpus);
  return findings;
}

std::string jpeg_text(const Gpu& gpu) {
  if (!gpu.jpeg_engines) return "with JPEG engines";
  return *gpu.jpeg_engines == 0 ? "no JPEG engines" : fmt::format("{} JPEG engines", *gpu.jpeg_engines);
}

}  // namespace slipstream
