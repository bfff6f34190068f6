#include "app/report/text_lines.h"

#include <fmt/format.h>

#include <cstdint>
#include <exception>
#include <filesystem>
#include <vector>

#include "data/error.h"
#include "data/file_io.h"

namespace slipstream {

void for_each_line(const std::string& file,
                   const std::function<void(std::string_view line, int number)>& take) {
  if (!std::filesystem::exists(file)) return;
  std::vector<uint8_t> bytes;
  read_file(file, bytes);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  size_t begin = 0;
  for (int number = 1; begin < text.size(); ++number) {
    const size_t end = text.find('\n', begin);
    if (end == std::string_view::npos) return;
    try {
      take(text.substr(begin, end - begin), number);
    } catch (const std::exception& error) {
      throw UsageError(fmt::format("{}:{}: {}", file, number, error.what()));
    }
    begin = end + 1;
  }
}

}  // namespace slipstream
