#include "app/report/epoch_figures.h"

#include <algorithm>

namespace slipstream {

std::optional<double> epoch_figure(const Json& epoch, const char* key) {
  if (!epoch.is_object() || !epoch.contains(key) || !epoch.at(key).is_number()) return {};
  return epoch.at(key).get<double>();
}

std::string epoch_text_of(const Json& epoch, const char* key) {
  const bool is_text = epoch.is_object() && epoch.contains(key) && epoch.at(key).is_string();
  return is_text ? epoch.at(key).get<std::string>() : std::string();
}

std::optional<double> last_epoch_figure(const Json& epochs, const char* key) {
  return epochs.empty() ? std::nullopt : epoch_figure(epochs.back(), key);
}

std::optional<EpochParts> epoch_parts(const Json& epoch) {
  const auto wall = epoch_figure(epoch, "wall_s");
  if (!wall) return {};
  EpochParts parts{.wall_s = *wall,
                   .compute_s = epoch_figure(epoch, "compute_s"),
                   .exposed_s = epoch_figure(epoch, "data_wait_s"),
                   .other_s = 0};
  const double rest = *wall - parts.compute_s.value_or(0) - parts.exposed_s.value_or(0);
  parts.other_s = std::max(epoch_figure(epoch, "other_s").value_or(rest), 0.0);
  return parts;
}

}  // namespace slipstream
