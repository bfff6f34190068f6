#include "app/run_report.h"

#include <fmt/format.h>

#include "app/json_file.h"
#include "data/error.h"

namespace slipstream {
namespace {

bool is_epoch(const Json& record) {
  return record.is_object() && record.contains("epoch") && record.at("epoch").is_number_integer();
}

}  // namespace

Json read_run_report(const std::string& path) {
  const Json report = read_json_object(path);
  Json epochs = report.contains("epochs") ? report.at("epochs") : Json();
  bool valid = epochs.is_array();
  for (const Json& record : epochs) valid = valid && is_epoch(record);
  if (!valid) {
    throw UsageError(
        fmt::format("{}: not a report of slipstream; 'epochs' must be an array of objects, each "
                    "with an epoch number.",
                    path));
  }
  return epochs;
}

}  // namespace slipstream
