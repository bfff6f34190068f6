#pragma once

#include <string>
#include <string_view>

namespace slipstream {

/// Text for HTML, between tags or within a quoted attribute. Bytes that are no UTF-8 become U+FFFD.
std::string html_text(std::string_view text);

/// Text for a line of Markdown or a cell of its tables: nothing in it is taken for markup, and it has no line
/// breaks.
std::string markdown_text(std::string_view text);

}  // namespace slipstream
