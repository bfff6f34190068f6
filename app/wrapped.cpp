#include "app/wrapped.h"

#include <sstream>

namespace slipstream {

std::string wrapped(const std::string& text, int indent, int columns) {
  const auto width = static_cast<size_t>(columns - indent);
  std::string lines, line, word;
  const auto end_line = [&] {
    lines += std::string(static_cast<size_t>(indent), ' ') + line + "\n";
    line.clear();
  };
  std::istringstream words(text);
  while (words >> word) {
    if (!line.empty() && line.size() + 1 + word.size() > width) end_line();
    line += line.empty() ? word : " " + word;
  }
  if (!line.empty()) end_line();
  return lines;
}

}  // namespace slipstream
