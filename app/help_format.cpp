#include "app/help_format.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/wrapped.h"

namespace slipstream {

std::string HelpFormat::make_option(const CLI::Option* option, bool is_positional) const {
  std::string names = option->get_name(true);
  if (!is_positional) {
    std::vector<std::string> flags;
    for (const std::string& name : option->get_snames()) flags.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
    names = fmt::format("{}", fmt::join(flags, ", "));
    if (!option->get_type_name().empty()) names += " " + option->get_type_name();
  }
  return "  " + names + "\n" + wrapped(option->get_description(), 6, 100);
}

}  // namespace slipstream
