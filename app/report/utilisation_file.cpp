#include "app/report/utilisation_file.h"

#include <charconv>
#include <cmath>
#include <string_view>

#include "app/report/text_lines.h"
#include "data/error.h"

namespace slipstream {
namespace {

/// False unless all of `text` is one finite number.
bool read_number(std::string_view text, double& value) {
  if (text.ends_with('\r')) text.remove_suffix(1);
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  return failure == std::errc() && end == text.data() + text.size() && std::isfinite(value);
}

}  // namespace

std::vector<BusyBin> read_utilisation(const std::string& file) {
  std::vector<BusyBin> bins;
  for_each_line(file, [&bins](std::string_view line, int number) {
    if (number == 1) {
      if (!line.starts_with("time_s,busy")) throw Error("the header must be 'time_s,busy'.");
      return;
    }
    BusyBin bin;
    const size_t comma = line.find(',');
    const bool read = comma != std::string_view::npos && read_number(line.substr(0, comma), bin.time_s) &&
                      read_number(line.substr(comma + 1), bin.busy);
    const bool goes_on = bins.empty() || bin.time_s >= bins.back().time_s;
    if (!read || !goes_on || bin.busy < 0 || bin.busy > 1.001) {
      throw Error("must be a time, not before the one above, and a share, as in '0.05,0.98'.");
    }
    bins.push_back(bin);
  });
  return bins;
}

}  // namespace slipstream
