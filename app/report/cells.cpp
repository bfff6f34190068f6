#include "app/report/cells.h"

#include <fmt/format.h>

#include <cmath>

#include "app/option_table.h"
#include "app/report/scale.h"
#include "app/units.h"

namespace slipstream {
namespace {

Cell shown_cell(std::optional<double> value, std::string (*shown)(double)) {
  if (!value || !std::isfinite(*value)) return {.text = "-", .value = {}};
  return {.text = shown(*value), .value = value};
}

/// " s" of "1.234 s"; nothing of "12 min 5 s", which has two.
std::string unit_of(const std::string& text) {
  const size_t space = text.find(' ');
  return space != std::string::npos && space == text.rfind(' ') ? text.substr(space) : std::string();
}

std::string times_text(double value) { return fmt::format("{:.2f}x", value); }

}  // namespace

Cell text_cell(std::string text) { return {.text = std::move(text), .value = {}}; }
Cell number_cell(std::optional<double> value) { return shown_cell(value, rounded); }
Cell seconds_cell(std::optional<double> value) { return shown_cell(value, duration_text); }
Cell share_cell(std::optional<double> value) { return shown_cell(value, share_text); }
Cell times_cell(std::optional<double> value) { return shown_cell(value, times_text); }

Cell spread_cell(const std::optional<RoundsRange>& spread, std::string (*shown)(double)) {
  if (!spread) return text_cell("-");
  Cell cell = shown_cell(spread->median, shown);
  if (spread->low < spread->high) {
    const std::string unit = unit_of(cell.text);
    const auto bare = [&](const std::string& text) {
      return unit.empty() || unit_of(text) != unit ? text : text.substr(0, text.size() - unit.size());
    };
    cell.text += fmt::format(" ({} to {})", bare(shown(spread->low)), bare(shown(spread->high)));
  }
  return cell;
}

Cell option_cell(const Json& config, const std::string& key) {
  if (!config.contains(key)) return text_cell("-");
  const Json& value = config.at(key);
  Cell cell = text_cell(option_text(value));
  if (value.is_number()) cell.value = value.get<double>();
  return cell;
}

}  // namespace slipstream
