#pragma once

#include <string>

namespace slipstream {

/// The path of the program that runs. Throws Error if the system doesn't tell.
std::string this_executable();

/// Its command line, as a shell would take it again: "slipstream compare --data 'my images'".
std::string this_command_line();

}  // namespace slipstream
