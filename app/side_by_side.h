#pragma once

#include <string>
#include <vector>

namespace slipstream {

/// Lines of text: a title each, then that line's cell of each column, flush right. All are equally long.
std::string side_by_side(const std::vector<std::string>& titles,
                         const std::vector<std::vector<std::string>>& columns);

}  // namespace slipstream
