#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace slipstream {

/// --help with each option's sentence beneath its flag, wrapped.
class HelpFormat final : public CLI::Formatter {
 public:
  std::string make_option(const CLI::Option* option, bool is_positional) const override;
};

}  // namespace slipstream
