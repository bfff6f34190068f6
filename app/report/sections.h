#pragma once

#include <string>
#include <vector>

#include "app/report/document.h"
#include "app/report/input.h"

namespace slipstream {

/// A run that the figures show, in its colour.
struct DrawnRun {
  const ReportRun* run = nullptr;
  std::string style;
  bool in_compare = false;  ///< its epoch's bar stands there
};

/// The parts of a report; those that the runs have nothing for have no blocks.
Section compare_section(const ReportCompare& compare);
Section time_section(const std::vector<DrawnRun>& runs);
Section rate_section(const std::vector<DrawnRun>& runs);
Section latency_section(const std::vector<DrawnRun>& runs);
Section timeline_section(const std::vector<DrawnRun>& runs);
Section curves_section(const std::vector<DrawnRun>& runs);
Section sweep_section(const ReportSweep& sweep);
Section options_section(const std::vector<DrawnRun>& runs);

/// Loss and accuracy over the epochs, for a section of several.
std::vector<Block> curve_pictures(const std::vector<DrawnRun>& runs, const std::string& of);

/// The whole report.
Document make_report(const ReportInput& input);

}  // namespace slipstream
