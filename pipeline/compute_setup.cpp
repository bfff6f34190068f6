#include "pipeline/compute_setup.h"

#include <ATen/Context.h>
#include <fmt/format.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <limits>

#include "data/error.h"
#include "models/weights.h"

namespace slipstream {
namespace {

// Else glibc gives each large tensor back to the system when it is freed, and the next one of its size costs
// a page fault every 4 kB: 8% of a step's time (docs/performance.md).
void keep_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
#endif
}

}  // namespace

void set_global_switches(const TrainSetup& setup) {
  const TrainOptions& options = setup.options;
  if (setup.device.is_cpu()) keep_freed_memory();
  at::Context& context = at::globalContext();
  context.setBenchmarkCuDNN(options.cudnn_benchmark);
  context.setDeterministicCuDNN(options.deterministic);
  context.setDeterministicAlgorithms(options.deterministic, /*warn_only=*/false);
  context.setAllowTF32CuBLAS(options.tf32);
  context.setAllowTF32CuDNN(options.tf32);
}

ResNet make_model(const TrainSetup& setup, int64_t classes) {
  const TrainOptions& options = setup.options;
  const Norms norms = options.fused_norm ? Norms::kFused : Norms::kSeparate;
  ResNet model(options.arch, classes, static_cast<uint64_t>(options.seed), norms);
  if (!options.weights.empty()) {
    const StateDict weights = load_weights(options.weights);
    try {
      load_state_dict(model, weights);
    } catch (const Error& error) {
      throw Error(fmt::format("{}: {}", options.weights, error.what()));
    }
  }
  model.to(setup.device);
  if (options.channels_last) model.to_channels_last();
  return model;
}

}  // namespace slipstream
