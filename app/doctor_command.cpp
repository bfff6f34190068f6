#include "app/doctor_command.h"

#include <fmt/format.h>
#include <torch/headeronly/version.h>

#include <opencv2/core/version.hpp>
#include <string>

#include "app/doctor_findings.h"
#include "app/doctor_gpu.h"
#include "app/doctor_machine.h"
#include "app/units.h"
#include "app/version.h"
#include "app/wrapped.h"

namespace slipstream {
namespace {

void print_fact(const std::string& name, const std::string& value) {
  fmt::print("  {:<16}{}\n", name, value);
}

void print_build(const GpuSupport& support) {
  fmt::print("Build\n");
  print_fact("slipstream", version());
  print_fact("variant", build_variant());
#ifdef __clang__
  print_fact("compiler", __VERSION__);
#else
  print_fact("compiler", "GCC " __VERSION__);
#endif
  print_fact("LibTorch", TORCH_VERSION);
  print_fact("OpenCV", CV_VERSION);
  for (const auto& [library, number] : support.libraries) print_fact(library, number);
}

void print_machine(const MachineFacts& machine) {
  fmt::print("\nMachine\n");
  print_fact("cores", fmt::format("{}", machine.cores));
  print_fact("memory", fmt::format("{}, {} of it free", bytes_text(machine.memory_bytes),
                                   bytes_text(machine.available_bytes)));
  print_fact("open files", limit_text(machine.open_files));
  print_fact("locked memory", machine.locked_bytes ? bytes_text(*machine.locked_bytes) : "unlimited");
}

void print_gpus(const GpuMachine& gpus) {
  if (!gpus.driver.empty()) print_fact("NVIDIA driver", gpus.driver);
  for (const Gpu& gpu : gpus.gpus) {
    print_fact("GPU", fmt::format("{}, compute capability {}.{}, {}, {}", gpu.name, gpu.major, gpu.minor,
                                  bytes_text(gpu.memory_bytes), jpeg_text(gpu)));
  }
  if (gpus.gpus.empty()) print_fact("GPU", gpus.problem.empty() ? "none" : "none: " + gpus.problem);
}

int run() {
  const GpuSupport support = gpu_support();
  const MachineFacts machine = machine_facts();
  const GpuMachine gpus = gpu_machine();
  print_build(support);
  print_machine(machine);
  print_gpus(gpus);
  fmt::print("\nFindings\n");
  const std::vector<std::string> findings = doctor_findings(support, machine, gpus);
  if (findings.empty()) fmt::print("  Nothing here would be slow or fail.\n");
  for (const std::string& finding : findings) fmt::print("  - {}", wrapped(finding, 4, 100).substr(4));
  return 0;
}

}  // namespace

Command add_doctor_command(CLI::App& app) {
  return {add_command(app, "doctor", "Show the build and the machine, and what would be slow or fail."), run};
}

}  // namespace slipstream
