#include "app/json_places.h"

#include <fmt/format.h>

#include <cstddef>
#include <iterator>
#include <string_view>
#include <vector>

#include "data/error.h"
#include "data/file_io.h"

namespace slipstream {
namespace {

/// Counts lines as the parser takes characters. A token's line is that of the last character read that is no
/// white space: behind a number the parser has read one character more, and only white space ends a line.
struct LineCount {
  int64_t line_of_token = 1;
  int64_t line = 1;
};

class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = char;

  CountingIterator(const char* at, LineCount& count) : at_(at), count_(&count) {}
  char operator*() const { return *at_; }
  CountingIterator& operator++() {
    if (*at_ == '\n') {
      ++count_->line;
    } else if (*at_ != ' ' && *at_ != '\t' && *at_ != '\r') {
      count_->line_of_token = count_->line;
    }
    ++at_;
    return *this;
  }
  bool operator==(const CountingIterator& other) const { return at_ == other.at_; }
  bool operator!=(const CountingIterator& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  LineCount* count_;
};

/// Follows the parser through a file and notes where each value begins.
class Places {
 public:
  Places(const std::string& file, const LineCount& count, std::map<std::string, int64_t>& lines)
      : file_(file), count_(count), lines_(lines) {}

  void on(Json::parse_event_t event, const Json& parsed) {
    using Event = Json::parse_event_t;
    switch (event) {
      case Event::object_start:
      case Event::array_start:
        open_.push_back({begin_value(), event == Event::array_start});
        break;
      case Event::object_end:
      case Event::array_end:
        open_.pop_back();
        break;
      case Event::key:
        begin_member(parsed.get<std::string>());
        break;
      case Event::value:
        begin_value();
        break;
    }
  }

 private:
  struct Container {
    std::string path;
    bool is_array = false;
    int64_t next = 0;    // the array's next index
    std::string member;  // the path of the object's present member
  };

  void begin_member(const std::string& key) {
    Container& object = open_.back();
    object.member = object.path.empty() ? key : object.path + "." + key;
    if (!lines_.emplace(object.member, count_.line_of_token).second) {
      // The parser would silently keep the last.
      throw UsageError(fmt::format("{}:{}: {} stands twice; keep one of them.", file_, count_.line_of_token,
                                   object.member));
    }
  }

  std::string begin_value() {
    if (open_.empty()) return {};
    Container& container = open_.back();
    if (!container.is_array) return container.member;
    std::string path = fmt::format("{}[{}]", container.path, container.next++);
    lines_[path] = count_.line_of_token;
    return path;
  }

  const std::string& file_;
  const LineCount& count_;
  std::map<std::string, int64_t>& lines_;
  std::vector<Container> open_;
};

/// "line 3, column 5: ..." out of the library's "[json.exception...] parse error at line 3, column 5: ...".
std::string_view without_prefix(std::string_view what) {
  for (const std::string_view prefix : {"parse error at ", "] "}) {
    if (const size_t at = what.find(prefix); at != what.npos) return what.substr(at + prefix.size());
  }
  return what;
}

std::string text_of(const std::string& file) {
  std::vector<uint8_t> bytes;
  try {
    read_file(file, bytes);
  } catch (const Error& error) {
    throw UsageError(error.what());
  }
  return {bytes.begin(), bytes.end()};
}

}  // namespace

std::string PlacedJson::place(const std::string& path) const {
  if (path.empty()) return file + ":1";
  return fmt::format("{}:{}: {}", file, lines.at(path), path);
}

PlacedJson read_placed_json(const std::string& file, Json::value_t type) {
  PlacedJson placed{.file = file, .value = {}, .lines = {}};
  const std::string text = text_of(file);
  LineCount count;
  Places places(placed.file, count, placed.lines);
  const auto follow = [&](int, Json::parse_event_t event, const Json& parsed) {
    places.on(event, parsed);
    return true;
  };
  const char* end = text.data() + text.size();
  try {
    placed.value = Json::parse(CountingIterator(text.data(), count), CountingIterator(end, count), follow);
  } catch (const Json::exception& error) {
    throw UsageError(fmt::format("{}: not valid JSON, {}.", file, without_prefix(error.what())));
  }
  if (placed.value.type() != type) {
    throw UsageError(fmt::format("{}: holds {}, but must hold one JSON {}.", file, placed.value.type_name(),
                                 Json(type).type_name()));
  }
  return placed;
}

}  // namespace slipstream
