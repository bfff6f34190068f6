#pragma once

#include <string>

namespace slipstream {

/// `text` in lines of at most `columns` characters, each after `indent` spaces and ending in a newline.
std::string wrapped(const std::string& text, int indent, int columns);

}  // namespace slipstream
