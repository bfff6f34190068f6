#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "app/report/epoch_figures.h"
#include "app/report/scale.h"
#include "app/report/time_bars.h"
#include "app/units.h"

namespace slipstream {
namespace {

constexpr double kAsFast = 0.05;  // of the time: closer than that isn't told from chance
constexpr double kLittle = 0.1;   // of a serial epoch: less input than that isn't worth hiding

struct Epoch {
  std::string name, mode, decode;
  const Json* config = nullptr;
  EpochParts parts;
};

bool is_synthetic(const Json& config) {
  return config.contains("synthetic") && config.at("synthetic") == true;
}

std::optional<Epoch> last_epoch(const ReportRun& run) {
  if (run.epochs.empty() || is_synthetic(run.config)) return {};
  const Json& epoch = run.epochs.back();
  const auto parts = epoch_parts(epoch);
  if (!parts || !parts->compute_s || !parts->exposed_s || parts->wall_s <= 0) return {};
  return Epoch{.name = run.name,
               .mode = epoch_text_of(epoch, "mode"),
               .decode = epoch_text_of(epoch, "decode"),
               .config = &run.config,
               .parts = *parts};
}

/// Whether nothing but how input and compute share time tells the runs apart.
bool comparable(const Epoch& serial, const Epoch& other) {
  constexpr std::array<std::string_view, 7> kScheduling = {"mode",         "decode", "workers", "prefetch",
                                                           "log_interval", "trace",  "epochs"};
  return serial.mode == "serial" && other.mode == "overlapped" && serial.decode == other.decode &&
         std::ranges::all_of(differing_options({serial.config, other.config}), [&](const std::string& key) {
           return std::ranges::find(kScheduling, key) != kScheduling.end();
         });
}

std::string why_so_little(const EpochParts& serial, const EpochParts& other) {
  const double input = *serial.exposed_s / serial.wall_s;
  if (input < kLittle) {
    return fmt::format("input takes only {} of the serial epoch, so there is little to hide",
                       share_text(input));
  }
  if (*other.compute_s > *serial.compute_s * (1 + kAsFast)) {
    return fmt::format(
        "the wait for data fell from {} to {}, but compute grew from {} to {}: both want the "
        "same processor",
        duration_text(*serial.exposed_s), duration_text(*other.exposed_s), duration_text(*serial.compute_s),
        duration_text(*other.compute_s));
  }
  return fmt::format("the step still waits {} of the time for its batches, where serial waits {}",
                     share_text(*other.exposed_s / other.wall_s), share_text(input));
}

std::string sentence(const Epoch& serial, const Epoch& other) {
  const double speedup = serial.parts.wall_s / other.parts.wall_s;
  const std::string times = fmt::format("{} against {} an epoch", duration_text(other.parts.wall_s),
                                        duration_text(serial.parts.wall_s));
  const double gained = serial.parts.wall_s - other.parts.wall_s;
  const double hidden = *serial.parts.exposed_s - *other.parts.exposed_s;
  if (speedup > 1 + kAsFast && hidden < gained / 2) {
    return fmt::format(
        "{} took {} less than {} ({}), but only {} of that is input that it hid: compute itself took {} "
        "instead "
        "of {}, so more than the mode was different. compare measures in turns.",
        other.name, duration_text(gained), serial.name, times, duration_text(std::max(hidden, 0.0)),
        duration_text(*other.parts.compute_s), duration_text(*serial.parts.compute_s));
  }
  if (speedup > 1 + kAsFast) {
    return fmt::format(
        "{} is {:.2f}x as fast as {}: {}; the step waits for data {} of the time instead of {}.", other.name,
        speedup, serial.name, times, share_text(*other.parts.exposed_s / other.parts.wall_s),
        share_text(*serial.parts.exposed_s / serial.parts.wall_s));
  }
  const char* verdict = speedup < 1 - kAsFast ? "is slower than" : "is no faster than";
  return fmt::format("{} {} {} here ({:.2f}x: {}): {}.", other.name, verdict, serial.name, speedup, times,
                     why_so_little(serial.parts, other.parts));
}

}  // namespace

std::vector<std::string> overlap_sentences(const std::vector<TimedRun>& runs) {
  std::vector<Epoch> epochs;
  for (const TimedRun& timed : runs) {
    if (const auto epoch = last_epoch(*timed.run)) epochs.push_back(*epoch);
  }
  std::vector<std::string> sentences;
  for (const Epoch& serial : epochs) {
    for (const Epoch& other : epochs) {
      if (comparable(serial, other)) sentences.push_back(sentence(serial, other));
    }
  }
  return sentences;
}

}  // namespace slipstream
