#include "app/option_table.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "app/json_places.h"
#include "app/nearest.h"
#include "data/error.h"

namespace slipstream {
namespace {

/// batch_size -> --batch-size
std::string flag_of(std::string key, const std::string& prefix = "--") {
  std::replace(key.begin(), key.end(), '_', '-');
  return prefix + key;
}

/// What --help says beneath the flag: "Images in a batch. [1 to 65536; default 256]"
std::string help_of(const std::string& help, const OptionField& field) {
  const Json value = field.json();
  std::string facts = field.range();
  if (value != "") {
    facts += (facts.empty() ? "default " : "; default ") + option_text(value);
  }
  return facts.empty() ? help : fmt::format("{} [{}]", help, facts);
}

}  // namespace

std::string option_text(const Json& value) {
  if (value.is_number_float()) return fmt::format("{}", value.get<double>());  // 0, where JSON has 0.0
  return value.is_string() ? value.get<std::string>() : value.dump();
}

void OptionTable::integer(std::string key, int64_t& field, int64_t low, int64_t high,
                          const std::string& help) {
  add(std::move(key), help, std::make_unique<IntegerField>(field, low, high));
}

void OptionTable::real(std::string key, double& field, double low, double high, const std::string& help) {
  add(std::move(key), help, std::make_unique<RealField>(field, low, high));
}

void OptionTable::text(std::string key, std::string& field, std::string placeholder, const std::string& help,
                       std::string without_value) {
  add(std::move(key), help, std::make_unique<TextField>(field, std::move(placeholder)));
  options_.back().without_value = std::move(without_value);
}

void OptionTable::toggle(std::string key, bool& field, const std::string& help) {
  add(std::move(key), help, std::make_unique<SwitchField>(field));
}

void OptionTable::add(std::string key, const std::string& help, std::unique_ptr<OptionField> field) {
  Option option;
  option.key = std::move(key);
  option.group = group_;
  option.help = help_of(help, *field);
  option.field = std::move(field);
  options_.push_back(std::move(option));
}

void OptionTable::keep(const std::vector<std::string>& keys) {
  std::erase_if(options_, [&](const Option& option) { return std::ranges::count(keys, option.key) == 0; });
}

void OptionTable::drop(const std::vector<std::string>& keys) {
  std::erase_if(options_, [&](const Option& option) { return std::ranges::count(keys, option.key) > 0; });
}

void OptionTable::add_flags(CLI::App& app) {
  for (Option& option : options_) {
    const std::string name = flag_of(option.key);
    if (option.field->placeholder().empty()) {
      option.flag = app.add_flag(name + ",!" + flag_of(option.key, "--no-"));
    } else {
      // The text stays in CLI11's results until read_flags; the callback has nothing to do.
      option.flag = app.add_option(name, [](const CLI::results_t&) { return true; });
      option.flag->type_name(option.field->placeholder());
      if (!option.without_value.empty()) option.flag->expected(0, 1)->default_str(option.without_value);
    }
    option.flag->description(option.help)->group(option.group);
    option.flag->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  }
}

void OptionTable::read_file(const std::string& path) {
  const PlacedJson file = read_placed_json(path);
  for (const auto& [key, value] : file.value.items()) set(file.place(key), key, value);
}

void OptionTable::set(const std::string& where, const std::string& key, const Json& value) {
  find(where, key).field->set_json(where, value);
}

void OptionTable::read_flags() {
  for (Option& option : options_) {
    if (option.flag != nullptr && option.flag->count() > 0) {
      option.field->set_text(flag_of(option.key), option.flag->results().back());
    }
  }
}

Json OptionTable::json() const {
  Json values = Json::object();
  for (const Option& option : options_) values[option.key] = option.field->json();
  return values;
}

OptionTable::Option& OptionTable::find(const std::string& where, const std::string& key) {
  std::vector<std::string> keys;
  for (Option& option : options_) {
    if (option.key == key) return option;
    keys.push_back(option.key);
  }
  throw UsageError(fmt::format("{}: there is no such option; did you mean {}?", where, nearest(key, keys)));
}

}  // namespace slipstream
