#include "app/this_process.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "data/error.h"

namespace slipstream {
namespace fs = std::filesystem;
namespace {

std::string shell_word(const std::string& word) {
  const auto plain = [](unsigned char letter) {
    return std::isalnum(letter) != 0 || std::string_view("_-./=,:+@%").find(letter) != std::string_view::npos;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), plain)) return word;
  std::string text = "'";
  for (const char letter : word) text += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return text + "'";
}

}  // namespace

std::string this_executable() {
  std::error_code failure;
  const fs::path path = fs::read_symlink("/proc/self/exe", failure);
  if (failure) throw Error(fmt::format("/proc/self/exe: can't be read: {}.", failure.message()));
  return path.string();
}

std::string this_command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string text;
  for (std::string word; std::getline(file, word, '\0');) {
    text += text.empty() ? shell_word(fs::path(word).filename().string()) : " " + shell_word(word);
  }
  return text;
}

}  // namespace slipstream
