#include "app/report/escape.h"

#include <cctype>

#include "app/json.h"

namespace slipstream {
namespace {

/// The JSON library knows how to replace what is no UTF-8.
std::string valid_utf8(std::string_view text) {
  const std::string json = Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
  return Json::parse(json).get<std::string>();
}

bool is_word(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || static_cast<unsigned char>(letter) >= 0x80;
}

/// Between letters, as in batch_size, an underscore begins no emphasis.
bool within_word(const std::string& text, size_t at) {
  return at > 0 && at + 1 < text.size() && is_word(text[at - 1]) && is_word(text[at + 1]);
}

bool is_control(char letter) { return static_cast<unsigned char>(letter) < 0x20 || letter == 0x7F; }

}  // namespace

std::string html_text(std::string_view text) {
  std::string escaped;
  for (const char letter : valid_utf8(text)) {
    switch (letter) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += is_control(letter) && letter != '\n' ? ' ' : letter;
    }
  }
  return escaped;
}

std::string markdown_text(std::string_view text) {
  const std::string plain = valid_utf8(text);
  std::string escaped;
  for (size_t at = 0; at < plain.size(); ++at) {
    const char letter = plain[at];
    if (is_control(letter)) {
      escaped += ' ';
    } else if (letter == '<') {
      escaped += "&lt;";
    } else if (letter == '&') {
      escaped += "&amp;";
    } else {
      constexpr std::string_view kMarkup = "\\`*[]|~$#";
      const bool markup = kMarkup.find(letter) != std::string_view::npos;
      if (markup || (letter == '_' && !within_word(plain, at))) escaped += '\\';
      escaped += letter;
    }
  }
  return escaped;
}

}  // namespace slipstream
