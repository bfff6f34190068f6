#pragma once

#include <nlohmann/json.hpp>

namespace slipstream {

/// JSON whose objects keep the order in which their keys were added: files read as they were declared.
using Json = nlohmann::ordered_json;

}  // namespace slipstream
