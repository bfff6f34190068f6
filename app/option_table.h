#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/json.h"
#include "app/option_field.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace slipstream {

/// An option's value as its flag takes it: 0.1, serial, true.
std::string option_text(const Json& value);

/// The options of one struct, each declared once. A declaration is the command line's flag (--batch-size),
/// the JSON file's key (batch_size), its range, its default (the field's value when it is declared) and its
/// help.
///
/// Flags beat the file and the file beats the defaults: call `read_file`, then `read_flags`. The fields must
/// outlive the table.
class OptionTable {
 public:
  /// The group in --help of the options declared after this.
  void group(std::string name) { group_ = std::move(name); }

  void integer(std::string key, int64_t& field, int64_t low, int64_t high, const std::string& help);
  void real(std::string key, double& field, double low, double high, const std::string& help);
  /// The flag may stand without a value if `without_value` is not empty: that is then its value.
  void text(std::string key, std::string& field, std::string placeholder, const std::string& help,
            std::string without_value = {});
  /// --key, --no-key, --key=true and --key=false.
  void toggle(std::string key, bool& field, const std::string& help);
  template <typename T>
  void choice(const std::string& key, T& field, std::vector<std::pair<std::string, T>> choices,
              const std::string& help);

  /// Drops all options declared so far but these, for a command that has some of another's.
  void keep(const std::vector<std::string>& keys);
  /// Drops these, for a command that has all others.
  void drop(const std::vector<std::string>& keys);

  /// Adds a flag for each option to `app`, which must then parse the command line.
  void add_flags(CLI::App& app);
  /// Sets the fields that a JSON file names. Throws UsageError for an unknown key, a wrong type or range.
  void read_file(const std::string& path);
  /// Sets one field from JSON. `where` names the value in UsageError's sentence: "run.json:3: batch_size".
  void set(const std::string& where, const std::string& key, const Json& value);
  /// Throws UsageError that begins with `where` and names the nearest option if `key` is none.
  void require(const std::string& where, const std::string& key) { find(where, key); }
  /// Sets the fields whose flags the command line gave. Throws UsageError naming the flag.
  void read_flags();

  /// All options with their present values; `read_file` of it gives the same values.
  Json json() const;

 private:
  struct Option {
    std::string key, group, help, without_value;
    std::unique_ptr<OptionField> field;
    CLI::Option* flag = nullptr;
  };

  void add(std::string key, const std::string& help, std::unique_ptr<OptionField> field);
  Option& find(const std::string& where, const std::string& key);

  std::string group_;
  std::vector<Option> options_;
};

template <typename T>
void OptionTable::choice(const std::string& key, T& field, std::vector<std::pair<std::string, T>> choices,
                         const std::string& help) {
  std::vector<std::string> names;
  std::vector<T> values;
  for (auto& [name, value] : choices) {
    names.push_back(std::move(name));
    values.push_back(std::move(value));
  }
  const auto get = [&field, values] {
    return static_cast<size_t>(std::find(values.begin(), values.end(), field) - values.begin());
  };
  const auto set = [&field, values](size_t position) { field = values.at(position); };
  add(key, help, std::make_unique<ChoiceField>(std::move(names), get, set));
}

}  // namespace slipstream
