#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "app/json.h"

namespace slipstream {

/// A field of an options struct, settable from the command line's text and from JSON, with the check of its
/// range in one place. `where` names the value's origin ("--lr" or "run.json:3: lr") in UsageError's
/// sentence.
class OptionField {
 public:
  virtual ~OptionField() = default;
  virtual void set_text(const std::string& where, const std::string& text) = 0;
  virtual void set_json(const std::string& where, const Json& value) = 0;
  virtual Json json() const = 0;
  virtual std::string placeholder() const = 0;      ///< what --help writes for the value
  virtual std::string range() const { return {}; }  ///< "1 to 64"; empty: --help need not say
};

class IntegerField final : public OptionField {
 public:
  IntegerField(int64_t& field, int64_t low, int64_t high) : field_(field), low_(low), high_(high) {}
  void set_text(const std::string& where, const std::string& text) override;
  void set_json(const std::string& where, const Json& value) override;
  Json json() const override { return field_; }
  std::string placeholder() const override { return "N"; }
  std::string range() const override;

 private:
  [[noreturn]] void refuse(const std::string& where, const std::string& given) const;

  int64_t& field_;
  int64_t low_, high_;
};

class RealField final : public OptionField {
 public:
  RealField(double& field, double low, double high) : field_(field), low_(low), high_(high) {}
  void set_text(const std::string& where, const std::string& text) override;
  void set_json(const std::string& where, const Json& value) override;
  Json json() const override { return field_; }
  std::string placeholder() const override { return "X"; }
  std::string range() const override;

 private:
  [[noreturn]] void refuse(const std::string& where, const std::string& given) const;

  double& field_;
  double low_, high_;
};

class TextField final : public OptionField {
 public:
  TextField(std::string& field, std::string placeholder)
      : field_(field), placeholder_(std::move(placeholder)) {}
  void set_text(const std::string&, const std::string& text) override { field_ = text; }
  void set_json(const std::string& where, const Json& value) override;
  Json json() const override { return field_; }
  std::string placeholder() const override { return placeholder_; }

 private:
  std::string& field_;
  std::string placeholder_;
};

class SwitchField final : public OptionField {
 public:
  explicit SwitchField(bool& field) : field_(field) {}
  void set_text(const std::string& where, const std::string& text) override;
  void set_json(const std::string& where, const Json& value) override;
  Json json() const override { return field_; }
  std::string placeholder() const override { return {}; }

 private:
  bool& field_;
};

/// One of several names; the field itself, an enum or a string, is behind `get` and `set`, which deal in
/// positions in `names`.
class ChoiceField final : public OptionField {
 public:
  ChoiceField(std::vector<std::string> names, std::function<size_t()> get, std::function<void(size_t)> set)
      : names_(std::move(names)), get_(std::move(get)), set_(std::move(set)) {}
  void set_text(const std::string& where, const std::string& text) override;
  void set_json(const std::string& where, const Json& value) override;
  Json json() const override { return names_.at(get_()); }
  std::string placeholder() const override { return "NAME"; }
  std::string range() const override;

 private:
  std::vector<std::string> names_;
  std::function<size_t()> get_;
  std::function<void(size_t)> set_;
};

}  // namespace slipstream
