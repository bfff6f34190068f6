#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/json.h"

namespace slipstream {

/// A run's name from a template, in which {key} stands for an option's value, {n} for the run's number and
/// {repeat} for its repetition, both from 1. Letters that make trouble in file names become '_'. Throws
/// UsageError that begins with `where` if the template names no option or has a brace alone.
std::string filled_name(const std::string& where, const std::string& name, const Json& config, int64_t n,
                        int64_t repeat);

/// The template for a sweep that has none: "{mode}" for one key, "mode-{mode}-batch_size-{batch_size}" for
/// several; "run" for none.
std::string made_template(const std::vector<std::string>& keys);

}  // namespace slipstream
