#include "app/sweep_figures.h"

#include <algorithm>

#include "app/units.h"

namespace slipstream {
namespace {

Json value_or_null(const Json& epoch, const char* key) {
  return epoch.contains(key) && epoch.at(key).is_number() ? epoch.at(key) : Json();
}

Json first_of(const Json& epoch, const char* key, const char* other) {
  const Json value = value_or_null(epoch, key);
  return value.is_null() ? value_or_null(epoch, other) : value;
}

}  // namespace

const std::array<Figure, 4> kFigures = {{
    {"epoch_s", "epoch time", false, [](const Json& epoch) { return value_or_null(epoch, "wall_s"); },
     seconds_text},
    {"images_per_s", "images/s", true, [](const Json& epoch) { return value_or_null(epoch, "images_per_s"); },
     rounded},
    {"top1", "top-1", true, [](const Json& epoch) { return first_of(epoch, "val_top1", "train_top1"); },
     share_text},
    {"loss", "loss", false, [](const Json& epoch) { return first_of(epoch, "val_loss", "train_loss"); },
     rounded},
}};

const Figure* find_figure(std::string_view key) {
  const auto* found = std::ranges::find(kFigures, key, &Figure::key);
  return found == kFigures.end() ? nullptr : found;
}

Json figure_value(const Figure& figure, const SweepResult* result) {
  return result != nullptr && result->epoch.is_object() ? figure.value(result->epoch) : Json();
}

std::string figure_cell(const Figure& figure, const SweepResult* result) {
  const Json value = figure_value(figure, result);
  return value.is_null() ? "-" : figure.text(value.get<double>());
}

}  // namespace slipstream
