#include "app/report/heat_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace slipstream {
namespace {

constexpr double kTop = 26, kCellHeight = 38, kGap = 2, kBelow = 42, kTextDrop = 4.5;

}  // namespace

ValueRange range_of(const HeatMap& map) {
  ValueRange range;
  for (const auto& row : map.rows) {
    for (const HeatCell& cell : row) {
      if (!cell.value || !std::isfinite(*cell.value)) continue;
      range.low = std::min(range.low, *cell.value);
      range.high = std::max(range.high, *cell.value);
    }
  }
  return range;
}

std::string heat_style(double value, double low, double high) {
  constexpr double kShades = 5;
  const double share = high > low ? (value - low) / (high - low) : 1;
  return fmt::format("h{}", static_cast<int>(std::clamp(share * kShades, 0.0, kShades - 1)));
}

Drawing heat_map(const HeatMap& map, double width) {
  double left = 0;
  for (const std::string& y : map.ys) left = std::max(left, text_width(y));
  left = std::min(left, width / 3) + 10;
  const double cell_width = (width - left) / static_cast<double>(std::max<size_t>(map.xs.size(), 1));
  const double bottom = kTop + kCellHeight * static_cast<double>(map.ys.size());
  Drawing drawing(width, bottom + kBelow);
  drawing.text({0, 14}, map.y_title, Anchor::kStart, "title");
  const ValueRange range = range_of(map);
  const auto shade = [&map](double value) { return map.is_log ? std::log(value) : value; };
  for (size_t y = 0; y < map.ys.size(); ++y) {
    const double top = kTop + kCellHeight * static_cast<double>(y);
    const double middle = top + kCellHeight / 2 + kTextDrop;
    drawing.text({left - 8, middle}, shortened(map.ys[y], left - 8), Anchor::kEnd);
    for (size_t x = 0; x < map.xs.size(); ++x) {
      const HeatCell& cell = map.rows[y][x];
      const double from = left + cell_width * static_cast<double>(x);
      const std::string style =
          cell.value ? heat_style(shade(*cell.value), shade(range.low), shade(range.high)) : "empty";
      drawing.rect({from, top}, cell_width - kGap, kCellHeight - kGap, "cell " + style);
      drawing.text({from + cell_width / 2, middle}, shortened(cell.text, cell_width), Anchor::kMiddle,
                   "on-" + style);
    }
  }
  for (size_t x = 0; x < map.xs.size(); ++x) {
    const double middle = left + cell_width * (static_cast<double>(x) + 0.5);
    drawing.text({middle, bottom + 17}, shortened(map.xs[x], cell_width), Anchor::kMiddle);
  }
  drawing.text({(left + width) / 2, bottom + 36}, map.x_title, Anchor::kMiddle, "title");
  return drawing;
}

}  // namespace slipstream
