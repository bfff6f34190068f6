#pragma once

#include <string_view>

namespace slipstream {

/// The files page.html, page.css and page.js beside this one, as they were when this was built.
extern const std::string_view kPageHtml, kPageCss, kPageJs;

}  // namespace slipstream
