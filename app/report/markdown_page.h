#pragma once

#include <string>

#include "app/report/document.h"

namespace slipstream {

/// The document as Markdown: the same sentences and tables, and of each figure its text alternative and the
/// table behind it.
std::string markdown_page(const Document& document);

}  // namespace slipstream
