#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace slipstream {

/// The sizes that a list such as "64,128,256" names, ascending, each once; none of an empty one. Throws
/// UsageError for what is no size, or more than `images`, of which a batch could not be made.
std::vector<int64_t> listed_batch_sizes(const std::string& list, int64_t images);

/// Throws UsageError if the size that `flag` names is more than `images`.
void require_images_for(const std::string& flag, int64_t size, int64_t images);

}  // namespace slipstream
