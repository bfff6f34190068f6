#include "app/option_field.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <string_view>

#include "app/nearest.h"
#include "data/error.h"

namespace slipstream {
namespace {

/// All of `text` as a number, or nothing. A number too large for T is nothing too.
template <typename T>
std::optional<T> parse(const std::string& text) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

std::string quoted(const std::string& text) { return "'" + text + "'"; }

std::string shown(const Json& value) {
  constexpr size_t kMost = 40;
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  return text.size() <= kMost ? text : text.substr(0, kMost) + "...";
}

}  // namespace

void IntegerField::set_text(const std::string& where, const std::string& text) {
  const auto value = parse<int64_t>(text);
  if (!value || *value < low_ || *value > high_) refuse(where, quoted(text));
  field_ = *value;
}

void IntegerField::set_json(const std::string& where, const Json& value) {
  constexpr uint64_t kLargest = std::numeric_limits<int64_t>::max();
  const bool fits =
      value.is_number_unsigned() ? value.get<uint64_t>() <= kLargest : value.is_number_integer();
  if (!fits || value.get<int64_t>() < low_ || value.get<int64_t>() > high_) refuse(where, shown(value));
  field_ = value.get<int64_t>();
}

std::string IntegerField::range() const {
  if (high_ == std::numeric_limits<int64_t>::max()) return fmt::format("{} or more", low_);
  return fmt::format("{} to {}", low_, high_);
}

void IntegerField::refuse(const std::string& where, const std::string& given) const {
  throw UsageError(fmt::format("{} must be a whole number, {}, not {}.", where, range(), given));
}

void RealField::set_text(const std::string& where, const std::string& text) {
  const auto value = parse<double>(text);
  if (!value || !(*value >= low_ && *value <= high_)) refuse(where, quoted(text));  // NaN fails both
  field_ = *value;
}

void RealField::set_json(const std::string& where, const Json& value) {
  if (!value.is_number()) refuse(where, shown(value));
  const double number = value.get<double>();
  if (!(number >= low_ && number <= high_)) refuse(where, shown(value));
  field_ = number;
}

std::string RealField::range() const { return fmt::format("{} to {}", low_, high_); }

void RealField::refuse(const std::string& where, const std::string& given) const {
  throw UsageError(fmt::format("{} must be a number, {}, not {}.", where, range(), given));
}

void TextField::set_json(const std::string& where, const Json& value) {
  if (!value.is_string()) throw UsageError(fmt::format("{} must be a string, not {}.", where, shown(value)));
  field_ = value.get<std::string>();
}

void SwitchField::set_text(const std::string& where, const std::string& text) {
  if (text != "true" && text != "false") {
    throw UsageError(fmt::format("{} must be true or false, not {}.", where, quoted(text)));
  }
  field_ = text == "true";
}

void SwitchField::set_json(const std::string& where, const Json& value) {
  if (!value.is_boolean()) {
    throw UsageError(fmt::format("{} must be true or false, not {}.", where, shown(value)));
  }
  field_ = value.get<bool>();
}

void ChoiceField::set_text(const std::string& where, const std::string& text) {
  const auto name = std::find(names_.begin(), names_.end(), text);
  if (name == names_.end()) {
    throw UsageError(fmt::format("{} must be one of {}, not {}; did you mean '{}'?", where,
                                 fmt::join(names_, ", "), quoted(text), nearest(text, names_)));
  }
  set_(static_cast<size_t>(name - names_.begin()));
}

void ChoiceField::set_json(const std::string& where, const Json& value) {
  if (!value.is_string()) {
    throw UsageError(
        fmt::format("{} must be one of {}, not {}.", where, fmt::join(names_, ", "), shown(value)));
  }
  set_text(where, value.get<std::string>());
}

std::string ChoiceField::range() const { return fmt::format("{}", fmt::join(names_, ", ")); }

}  // namespace slipstream
