#pragma once

#include <string>

#include "app/json.h"

namespace slipstream {

/// The array of epochs in a report.json, each an object that has an epoch number. Throws UsageError that
/// names the file if it is not one that slipstream wrote.
Json read_run_report(const std::string& path);

}  // namespace slipstream
