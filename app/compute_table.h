#pragma once

#include <string>

#include "pipeline/compute_bench.h"

namespace slipstream {

/// What `bench compute` measured, for people: rate, parts of the step, kinds of kernels, the longest kernels.
std::string compute_table(const ComputeRate& rate);

}  // namespace slipstream
