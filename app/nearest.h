#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace slipstream {

/// The candidate that takes the fewest edits to reach from `word` (a letter added, dropped, replaced, or two
/// neighbours swapped); the first of equals. `candidates` must not be empty.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace slipstream
