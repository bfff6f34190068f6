#pragma once

#include <string>
#include <vector>

#include "pipeline/input_bench.h"

namespace slipstream {

/// Input rates side by side: a column a mode and decoder, in units for people, "-" for what is unknown.
/// Stages are sums over threads, and microseconds an image.
std::string input_table(const std::vector<InputRate>& rates);

}  // namespace slipstream
