#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace slipstream {

/// What `tune` chooses: how batches are prepared, which changes nothing that is learned, and, where asked
/// for, how large they are, which does.
struct TuneSettings {
  int64_t workers = 0, prefetch = 0, batch_size = 0;
  bool operator==(const TuneSettings&) const = default;
};

enum class TrialKind {
  kWarmUp,        ///< brings the files into memory; its rate counts nowhere
  kCeiling,       ///< without input
  kBaseline,      ///< the settings that the search starts from
  kCandidate,     ///< others
  kConfirmation,  ///< baseline or winner, once more
};

/// What a short training told.
struct Measured {
  double images_per_s = 0;     ///< after its warm-up
  double plus_minus = 0;       ///< share of images_per_s: twice its standard error, by the steps' times
  double data_wait_share = 0;  ///< of the time
  double took_s = 0;           ///< all of it: start-up, warm-up and measurement
  std::string failure;         ///< a sentence; empty if there is a rate
  bool timed_out = false;
  double again_s = 0;  ///< about what an equal one would take at least, going by its steps; 0: nobody knows
};

struct Trial {
  TrialKind kind = TrialKind::kCandidate;
  TuneSettings settings;
  Measured measured;
  std::optional<double> gain;  ///< of a candidate, over the best so far: 0.1 is 10% faster
  bool wins = false;           ///< by more than the noise
};

}  // namespace slipstream
