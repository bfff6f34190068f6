#pragma once

#include <string>

#include "app/json.h"

namespace slipstream {

/// Reads a JSON file that holds one object, or throws as read_placed_json does.
Json read_json_object(const std::string& path);

/// Writes a JSON file, whole or not at all. Text that isn't UTF-8 gets replacement characters.
void write_json(const std::string& path, const Json& value);

/// Indented, as the program prints and writes it.
std::string json_text(const Json& value);

}  // namespace slipstream
