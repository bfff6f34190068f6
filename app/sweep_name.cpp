#include "app/sweep_name.h"

#include <fmt/format.h>

#include <cctype>
#include <string_view>

#include "app/nearest.h"
#include "app/option_table.h"
#include "data/error.h"

namespace slipstream {
namespace {

std::string value_of(const std::string& where, const std::string& key, const Json& config, int64_t n,
                     int64_t repeat) {
  if (key == "n") return fmt::format("{}", n);
  if (key == "repeat") return fmt::format("{}", repeat);
  if (config.contains(key)) return option_text(config.at(key));
  std::vector<std::string> known = {"n", "repeat"};
  for (const auto& [option, value] : config.items()) known.push_back(option);
  throw UsageError(fmt::format("{}: there is no option for {{{}}}; did you mean {{{}}}?", where, key,
                               nearest(key, known)));
}

/// Bytes beyond ASCII stay: they are letters of other scripts.
std::string safe(std::string name) {
  for (char& letter : name) {
    const auto code = static_cast<unsigned char>(letter);
    const bool plain = code >= 0x80 || std::isalnum(code) != 0 ||
                       std::string_view("-_.+=,@").find(letter) != std::string_view::npos;
    if (!plain) letter = '_';
  }
  return name;
}

}  // namespace

std::string filled_name(const std::string& where, const std::string& name, const Json& config, int64_t n,
                        int64_t repeat) {
  std::string text;
  for (size_t at = 0; at < name.size(); ++at) {
    const size_t close = name[at] == '{' ? name.find('}', at) : std::string::npos;
    if (name[at] == '}' || (name[at] == '{' && close == std::string::npos)) {
      throw UsageError(fmt::format("{}: '{}' has a brace alone; write {{key}}.", where, name));
    }
    if (close == std::string::npos) {
      text += name[at];
    } else {
      text += value_of(where, name.substr(at + 1, close - at - 1), config, n, repeat);
      at = close;
    }
  }
  return safe(text);
}

std::string made_template(const std::vector<std::string>& keys) {
  if (keys.empty()) return "run";
  if (keys.size() == 1) return "{" + keys[0] + "}";
  std::string made;
  for (const std::string& key : keys) made += fmt::format("{}{}-{{{}}}", made.empty() ? "" : "-", key, key);
  return made;
}

}  // namespace slipstream
