#pragma once

#include <optional>
#include <string>

#include "app/json.h"
#include "app/report/compare_file.h"
#include "app/report/document.h"

namespace slipstream {

/// Cells with numbers as people read them; "-" where there is none.
Cell text_cell(std::string text);
Cell number_cell(std::optional<double> value);
Cell seconds_cell(std::optional<double> value);
Cell share_cell(std::optional<double> value);
Cell times_cell(std::optional<double> value);  ///< "2.41x"
/// "1.234 s (1.201 to 1.300)": the median, and the range where there is one.
Cell spread_cell(const std::optional<RoundsRange>& spread, std::string (*shown)(double));
/// An option's value; sorted as a number where it is one.
Cell option_cell(const Json& config, const std::string& key);

}  // namespace slipstream
