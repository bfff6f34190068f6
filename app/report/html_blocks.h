#pragma once

#include <string>

#include "app/report/document.h"

namespace slipstream {

/// Writes a page's blocks, with ids that are unique on the page.
class HtmlBlocks {
 public:
  std::string block(const Block& block);

 private:
  std::string table(const DataTable& table, bool shows_caption);
  std::string picture(const Picture& picture);

  int tables_ = 0;
};

}  // namespace slipstream
