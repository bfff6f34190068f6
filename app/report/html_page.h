#pragma once

#include <string>

#include "app/report/document.h"

namespace slipstream {

/// The document as one HTML page that needs no other file and no network: page.html with page.css, page.js
/// and figures as inline SVG. A Content-Security-Policy in it forbids it to load anything.
std::string html_page(const Document& document);

}  // namespace slipstream
