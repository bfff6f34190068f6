#include "app/compare_table.h"

#include "app/side_by_side.h"
#include "app/units.h"
#include "app/wrapped.h"

namespace slipstream {
namespace {

using Text = std::string (*)(const Json&);

std::string plain(const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }
std::string amount(const Json& value) { return rounded(value.get<double>()); }
std::string seconds(const Json& value) { return seconds_text(value.get<double>()); }
std::string share(const Json& value) { return share_text(value.get<double>()); }
std::string bytes(const Json& value) { return bytes_text(value.get<int64_t>()); }

struct Row {
  const char* key;
  const char* title;
  Text text;
};

constexpr Row kRows[] = {
    {"epoch", "epoch", plain},
    {"mode", "mode", plain},
    {"decode", "decode", plain},
    {"images", "images", amount},
    {"wall_s", "wall time", seconds},
    {"images_per_s", "images/s", amount},
    {"data_wait_s", "data wait", seconds},
    {"read_s", "read", seconds},
    {"decode_s", "decoding", seconds},
    {"resize_s", "resize", seconds},
    {"h2d_s", "host to device", seconds},
    {"compute_s", "compute", seconds},
    {"other_s", "other", seconds},
    {"hidden_share", "input hidden", share},
    {"alone_images_per_s", "the step alone", amount},
    {"alone_share", "share of that", share},
    {"gpu_util", "GPU in use", share},
    {"gpu_mem_bytes", "GPU memory", bytes},
    {"train_loss", "train loss", amount},
    {"train_top1", "train top1", share},
    {"val_loss", "val loss", amount},
    {"val_top1", "val top1", share},
    {"val_top5", "val top5", share},
};

std::string cell(const Json& epoch, const Row& row) {
  if (!epoch.contains(row.key) || epoch.at(row.key).is_null()) return "-";
  const Json& value = epoch.at(row.key);
  return value.is_number() || row.text == plain ? row.text(value) : plain(value);
}

}  // namespace

std::string compare_table(const std::vector<ComparedRun>& runs) {
  std::vector<std::string> titles = {""};
  for (const Row& row : kRows) titles.emplace_back(row.title);
  std::vector<std::vector<std::string>> columns;
  for (const ComparedRun& run : runs) {
    std::vector<std::string>& cells = columns.emplace_back(1, run.name);
    for (const Row& row : kRows) cells.push_back(cell(run.epoch, row));
  }

  std::string text = side_by_side(titles, columns);
  for (const ComparedRun& run : runs) {
    const std::string sentence = run.epoch.value("bottleneck", "");
    if (!sentence.empty()) text += "\n" + run.name + ":\n" + wrapped(sentence, 2, 100);
  }
  return text;
}

}  // namespace slipstream
