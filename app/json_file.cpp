#include "app/json_file.h"

#include <fmt/format.h>

#include <set>
#include <string_view>
#include <vector>

#include "data/error.h"
#include "data/file_io.h"

namespace slipstream {
namespace {

/// Refuses an object's second value for a key, of which the parser would silently keep the last.
class UniqueKeys {
 public:
  explicit UniqueKeys(std::string path) : path_(std::move(path)) {}

  bool operator()(int, Json::parse_event_t event, const Json& parsed) {
    if (event == Json::parse_event_t::object_start) keys_.emplace_back();
    if (event == Json::parse_event_t::object_end) keys_.pop_back();
    if (event == Json::parse_event_t::key && !keys_.back().insert(parsed.get<std::string>()).second) {
      throw UsageError(
          fmt::format("{}: '{}' stands twice; keep one of them.", path_, parsed.get<std::string>()));
    }
    return true;
  }

 private:
  std::string path_;
  std::vector<std::set<std::string>> keys_;  // of each open object
};

/// "line 3, column 5: ..." out of the library's "[json.exception...] parse error at line 3, column 5: ...".
std::string_view without_prefix(std::string_view what) {
  for (const std::string_view prefix : {"parse error at ", "] "}) {
    if (const size_t at = what.find(prefix); at != what.npos) return what.substr(at + prefix.size());
  }
  return what;
}

}  // namespace

Json read_json_object(const std::string& path) {
  std::vector<uint8_t> bytes;
  try {
    read_file(path, bytes);
  } catch (const Error& error) {
    throw UsageError(error.what());
  }
  Json value;
  try {
    value = Json::parse(bytes, UniqueKeys(path));
  } catch (const Json::exception& error) {
    throw UsageError(fmt::format("{}: not valid JSON, {}.", path, without_prefix(error.what())));
  }
  if (!value.is_object()) {
    throw UsageError(fmt::format("{}: holds {}, but must hold one JSON object.", path, value.type_name()));
  }
  return value;
}

void write_json(const std::string& path, const Json& value) { write_file_atomically(path, json_text(value)); }

std::string json_text(const Json& value) {
  return value.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace slipstream
