#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "app/json.h"

namespace slipstream {

/// A JSON file's value, with the line that each of its values stands on.
struct PlacedJson {
  std::string file;
  Json value;
  std::map<std::string, int64_t> lines;  ///< by path, as people write it: "grid.batch_size[1]"

  /// How a sentence names a value: "run.json:7: grid.batch_size[1]"; the whole file is "run.json:1".
  std::string place(const std::string& path) const;
};

/// Reads a JSON file that holds one object, or one array where `type` says so. Throws UsageError naming the
/// file, and the line and column of what is malformed, or the line of a key that stands twice.
PlacedJson read_placed_json(const std::string& file, Json::value_t type = Json::value_t::object);

}  // namespace slipstream
