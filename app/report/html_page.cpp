#include "app/report/html_page.h"

#include <fmt/format.h>

#include <map>
#include <string_view>

#include "app/report/escape.h"
#include "app/report/html_blocks.h"
#include "app/report/page_assets.h"

namespace slipstream {
namespace {

std::string contents(const Document& document) {
  std::string links;
  for (size_t at = 0; at < document.sections.size(); ++at) {
    links += fmt::format("<li><a href=\"#section-{}\">{}</a></li>\n", at + 1,
                         html_text(document.sections[at].title));
  }
  return links;
}

std::string sections(const Document& document) {
  HtmlBlocks html;
  std::string text;
  for (size_t at = 0; at < document.sections.size(); ++at) {
    const Section& section = document.sections[at];
    text += fmt::format(
        "<section id=\"section-{0}\" aria-labelledby=\"heading-{0}\">\n"
        "<h2 id=\"heading-{0}\">{1}</h2>\n",
        at + 1, html_text(section.title));
    for (const Block& block : section.blocks) text += html.block(block);
    text += "</section>\n";
  }
  return text;
}

/// The skeleton with a value for each "{{name}}"; the values themselves are not looked into.
std::string filled(std::string_view skeleton, const std::map<std::string_view, std::string>& values) {
  std::string text;
  while (true) {
    const size_t open = skeleton.find("{{");
    text += skeleton.substr(0, open);
    if (open == std::string_view::npos) return text;
    const size_t close = skeleton.find("}}", open);
    text += values.at(skeleton.substr(open + 2, close - open - 2));
    skeleton.remove_prefix(close + 2);
  }
}

}  // namespace

std::string html_page(const Document& document) {
  return filled(kPageHtml, {{"title", html_text(document.title)},
                            {"subtitle", html_text(document.subtitle)},
                            {"style", std::string(kPageCss)},
                            {"script", std::string(kPageJs)},
                            {"contents", contents(document)},
                            {"sections", sections(document)}});
}

}  // namespace slipstream
