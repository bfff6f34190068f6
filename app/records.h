#pragma once

#include <string>

#include "app/json.h"
#include "pipeline/compute_bench.h"
#include "pipeline/input_bench.h"
#include "pipeline/run_observer.h"

namespace slipstream {

/// An epoch as an object of report.json. Empty and non-finite values are null.
Json epoch_record(const EpochReport& report);

/// A value between commas: text in quotes, nothing for null.
std::string csv_cell(const Json& value);

/// epochs.csv: a header of epoch_record's keys, and a row a record with nothing between commas for null.
std::string epochs_csv(const Json& records);

/// A step as a line of steps.jsonl, with its newline. Numbers are the shortest text that reads back the same,
/// so equal numbers are equal text; non-finite ones are null.
std::string step_line(const StepRecord& step);

/// What `bench input` measured, as an object of its rows. Unknown and non-finite values are null.
Json input_record(const InputRate& rate);

/// What `bench compute` measured. Unknown values are null.
Json compute_record(const ComputeRate& rate);

}  // namespace slipstream
