#include "app/side_by_side.h"

#include <fmt/format.h>

#include <algorithm>

namespace slipstream {
namespace {

size_t width_of(const std::vector<std::string>& cells) {
  size_t width = 0;
  for (const std::string& cell : cells) width = std::max(width, cell.size());
  return width;
}

}  // namespace

std::string side_by_side(const std::vector<std::string>& titles,
                         const std::vector<std::vector<std::string>>& columns) {
  std::string text;
  const size_t title_width = width_of(titles);
  for (size_t line = 0; line < titles.size(); ++line) {
    text += fmt::format("{:<{}}", titles[line], title_width);
    for (const auto& cells : columns) text += fmt::format("  {:>{}}", cells[line], width_of(cells));
    text += "\n";
  }
  return text;
}

}  // namespace slipstream
