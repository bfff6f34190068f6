#pragma once

#include <string>
#include <vector>

#include "app/sweep_plan.h"
#include "pipeline/train_options.h"

namespace slipstream {

/// One of the ways to train that are compared.
struct ComparedWay {
  std::string name;    ///< "serial, CPU decode"; of the ceiling: "synthetic"
  std::string folder;  ///< the same for a path: "serial-cpu"
  std::string mode;    ///< as --mode takes it
  std::string decode;  ///< "cpu", "cuda" or, of the ceiling, "none"
  bool synthetic = false;
  Json config;  ///< all of train's options but `out` and `resume`
};

struct ComparePlan {
  std::vector<ComparedWay> ways;     ///< serial first; the ceiling, which has no input, last
  std::vector<std::string> skipped;  ///< a sentence for each that this build or machine can't do
};

/// Each of the decoders in each of the modes, then the ceiling, all with as many steps an epoch as `images`
/// make. `options` says all else. Throws UsageError if `train` would refuse one, or if none is left.
ComparePlan plan_compare(const TrainOptions& options, const std::vector<Mode>& modes,
                         const std::vector<Decoder>& decoders, int64_t images);

/// The modes or decoders that a list such as "serial,overlapped" names, in their usual order; "all": each.
/// Throws UsageError.
std::vector<Mode> listed_modes(const std::string& list);
std::vector<Decoder> listed_decoders(const std::string& list);

/// What runs, in this order: each way in round 1, each in round 2, and so on, so that a machine that becomes
/// slower does so for all alike.
std::vector<PlannedRun> interleaved_runs(const ComparePlan& plan, int64_t rounds);

}  // namespace slipstream
