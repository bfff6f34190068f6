#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace slipstream {

/// Gives `take` each whole line of a file, without its end, and its number from 1; a last line without an end
/// was cut off by a crash and is left out. Does nothing if there is no such file. What `take` throws is
/// rethrown as a UsageError "FILE:LINE: what".
void for_each_line(const std::string& file,
                   const std::function<void(std::string_view line, int number)>& take);

}  // namespace slipstream
