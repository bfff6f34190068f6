#pragma once

#include <string>

#include "app/json.h"
#include "app/option_table.h"

namespace slipstream {

/// The option --json: a file for a command's figures, beside what people read; "-": the standard output, and
/// nothing else there.
class JsonOutput {
 public:
  void add_to(OptionTable& table);
  bool alone() const { return file_ == "-"; }
  /// Throws UsageError if no file can be there: it is a folder, or its folder is neither there nor `coming`,
  /// which will be. For a command that takes long.
  void require_place(const std::string& coming = {}) const;
  /// Writes or prints `figures`; does nothing without the option.
  void write(const Json& figures) const;

 private:
  std::string file_;
};

}  // namespace slipstream
