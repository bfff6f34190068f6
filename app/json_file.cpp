#include "app/json_file.h"

#include "app/json_places.h"
#include "data/file_io.h"

namespace slipstream {

Json read_json_object(const std::string& path) { return read_placed_json(path).value; }

void write_json(const std::string& path, const Json& value) { write_file_atomically(path, json_text(value)); }

std::string json_text(const Json& value) {
  return value.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace slipstream
