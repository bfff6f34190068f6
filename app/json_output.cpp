#include "app/json_output.h"

#include <iostream>

#include "app/json_file.h"

namespace slipstream {

void JsonOutput::add_to(OptionTable& table) {
  table.text("json", file_, "FILE", "Write the figures as JSON, too; -: to the standard output, alone.");
}

void JsonOutput::write(const Json& figures) const {
  if (alone()) {
    std::cout << json_text(figures);
  } else if (!file_.empty()) {
    write_json(file_, figures);
  }
}

}  // namespace slipstream
