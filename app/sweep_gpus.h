#pragma once

#include <string>
#include <vector>

namespace slipstream {

/// What CUDA_VISIBLE_DEVICES is to be for each GPU that a sweep uses: those of `list` ("0,2"), counted as
/// this process sees them; without a list, all. `visible` is this process's own CUDA_VISIBLE_DEVICES, if it
/// has one; `count` is how many GPUs it sees, less than 0 in a build without CUDA. Throws UsageError for a
/// number that is none.
std::vector<std::string> gpus_to_use(const std::string& list, const char* visible, int count);

}  // namespace slipstream
