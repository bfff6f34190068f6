#include "app/compare_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "app/comma_list.h"
#include "app/nearest.h"
#include "app/train_options_table.h"
#include "data/error.h"
#include "pipeline/device.h"
#include "pipeline/train_setup.h"

namespace slipstream {
namespace {

template <typename T>
using Names = std::vector<std::pair<std::string, T>>;

const Names<Mode> kModes = {
    {"serial", Mode::kSerial}, {"pinned", Mode::kPinned}, {"overlapped", Mode::kOverlapped}};
const Names<Decoder> kDecoders = {{"cpu", Decoder::kCpu}, {"cuda", Decoder::kCuda}};

template <typename T>
std::vector<T> listed(const std::string& flag, const std::string& list, const Names<T>& names) {
  std::vector<std::string> known;
  for (const auto& [name, value] : names) known.push_back(name);
  const std::vector<std::string> wanted = list == "all" ? known : comma_parts(list);
  for (const std::string& word : wanted) {
    if (std::ranges::count(known, word) > 0) continue;
    throw UsageError(
        fmt::format("{} takes all or some of {}, with commas between, not '{}'; did you mean {}?", flag,
                    fmt::join(known, ","), word, nearest(word, known)));
  }
  std::vector<T> values;
  for (const auto& [name, value] : names) {
    if (std::ranges::count(wanted, name) > 0) values.push_back(value);
  }
  return values;
}

/// As `train --config` reads it. The folder of checkpoints is the run's own.
Json config_of(TrainOptions options) { return without_own_keys(train_options_table(options).json()); }

ComparedWay way_of(const TrainSetup& setup) {
  const TrainOptions& options = setup.options;
  const std::string mode = mode_name(options.mode), decode = setup.decoder_name();
  return {.name = setup.schedule_name(),
          .folder = options.synthetic ? "synthetic" : mode + "-" + decode,
          .mode = mode,
          .decode = decode,
          .synthetic = options.synthetic,
          .config = {}};
}

void add_way(ComparePlan& plan, const TrainOptions& options) {
  ComparedWay way = way_of(resolve(options));
  way.config = config_of(options);
  plan.ways.push_back(std::move(way));
}

}  // namespace

std::vector<Mode> listed_modes(const std::string& list) { return listed("--modes", list, kModes); }
std::vector<Decoder> listed_decoders(const std::string& list) {
  return listed("--decoders", list, kDecoders);
}

ComparePlan plan_compare(const TrainOptions& options, const std::vector<Mode>& modes,
                         const std::vector<Decoder>& decoders, int64_t images) {
  const int64_t steps = std::max<int64_t>(1, images / options.batch_size);
  TrainOptions way = options;
  way.limit_batches = options.limit_batches > 0 ? std::min(options.limit_batches, steps) : steps;
  const c10::Device device = parse_device(options.device);
  ComparePlan plan;
  for (const Decoder decoder : decoders) {
    if (decoder == Decoder::kCuda && decoders.size() > 1 && !can_decode_on(device)) {
      plan.skipped.emplace_back(
          device.is_cuda() || parse_device("auto").is_cuda()
              ? "GPU decode is left out: it needs --device cuda."
              : "GPU decode is left out: this build or machine has no GPU; 'slipstream doctor' says more.");
      continue;
    }
    way.decode = decoder;
    for (const Mode mode : modes) {
      way.mode = mode;
      add_way(plan, way);
    }
  }
  way.mode = Mode::kOverlapped;
  way.decode = Decoder::kCpu;
  way.synthetic = true;
  way.weights.clear();  // they are for the folder's classes
  add_way(plan, way);
  return plan;
}

std::vector<PlannedRun> interleaved_runs(const ComparePlan& plan, int64_t rounds) {
  std::vector<PlannedRun> runs;
  for (int64_t round = 1; round <= rounds; ++round) {
    for (const ComparedWay& way : plan.ways) {
      runs.push_back({.name = fmt::format("round{}/{}", round, way.folder),
                      .place = fmt::format("round {}, {}", round, way.name),
                      .config = way.config});
    }
  }
  return runs;
}

}  // namespace slipstream
