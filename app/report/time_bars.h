#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/report/document.h"
#include "app/report/input.h"

namespace slipstream {

struct TimedRun {
  const ReportRun* run = nullptr;
  std::optional<std::pair<double, double>> range;  ///< of its epoch's seconds over rounds
};

/// The last epoch of each run as a bar of compute, exposed input and other, with the table behind it. Runs of
/// which no epoch has ended are left out.
Picture time_picture(const std::vector<TimedRun>& runs, const std::string& title);

/// What the input's stages took in the last epoch, summed over threads; no data where nothing was measured.
Picture stages_picture(const std::vector<TimedRun>& runs, const std::string& title);

/// Sentences that set overlapped runs beside the serial one with the same decoder, also where little was
/// gained, and say why.
std::vector<std::string> overlap_sentences(const std::vector<TimedRun>& runs);

}  // namespace slipstream
