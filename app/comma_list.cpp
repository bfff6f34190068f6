#include "app/comma_list.h"

namespace slipstream {

std::vector<std::string> comma_parts(const std::string& list) {
  std::vector<std::string> parts(1);
  for (const char letter : list) {
    if (letter == ',') {
      parts.emplace_back();
    } else {
      parts.back() += letter;
    }
  }
  return parts;
}

}  // namespace slipstream
