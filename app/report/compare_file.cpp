#include "app/report/compare_file.h"

#include <fmt/format.h>

#include "app/json_places.h"
#include "data/error.h"

namespace slipstream {
namespace {

constexpr int64_t kVersion = 1;

/// An object of the file, with sentences for what its members are not.
class Members {
 public:
  Members(const PlacedJson& file, std::string path, const Json& object)
      : file_(file), path_(std::move(path)), object_(object) {
    if (!object_.is_object()) fail(path_, "must be an object");
  }

  std::string text(const char* key) const {
    if (!at(key).is_string()) fail(path(key), "must be a text");
    return at(key).get<std::string>();
  }
  int64_t integer(const char* key) const {
    if (!at(key).is_number_integer()) fail(path(key), "must be a whole number");
    return at(key).get<int64_t>();
  }
  const Json& array(const char* key) const {
    if (!at(key).is_array() || at(key).empty()) fail(path(key), "must be an array that isn't empty");
    return at(key);
  }
  /// None for null, or where there is no such member.
  std::optional<double> number(const char* key) const {
    if (!has(key)) return {};
    if (!at(key).is_number()) fail(path(key), "must be a number or null");
    return at(key).get<double>();
  }
  std::optional<bool> boolean(const char* key) const {
    if (!has(key)) return {};
    if (!at(key).is_boolean()) fail(path(key), "must be true, false or null");
    return at(key).get<bool>();
  }
  std::optional<Members> object(const char* key) const {
    if (!has(key)) return {};
    return Members(file_, path(key), at(key));
  }
  std::string path(const std::string& key) const { return path_.empty() ? key : path_ + "." + key; }
  [[noreturn]] void fail(const std::string& where, const char* what) const {
    throw UsageError(fmt::format("{} {}.", file_.place(where), what));
  }

 private:
  bool has(const char* key) const { return object_.contains(key) && !object_.at(key).is_null(); }
  const Json& at(const char* key) const {
    if (!object_.contains(key)) {
      throw UsageError(
          fmt::format("{} lacks '{}'; did another version of slipstream write it?", file_.place(path_), key));
    }
    return object_.at(key);
  }

  const PlacedJson& file_;
  std::string path_;
  const Json& object_;
};

std::optional<RoundsRange> spread_of(const Members& row, const char* key) {
  const auto figure = row.object(key);
  if (!figure) return {};
  const auto median = figure->number("median");
  if (!median) return {};
  return RoundsRange{.median = *median,
                     .low = figure->number("min").value_or(*median),
                     .high = figure->number("max").value_or(*median)};
}

std::vector<std::string> run_folders(const Members& row) {
  std::vector<std::string> folders;
  for (const Json& folder : row.array("runs")) {
    if (!folder.is_string()) row.fail(row.path("runs"), "must be an array of texts");
    folders.push_back(folder.get<std::string>());
  }
  return folders;
}

ReportCompareRow row_of(const Members& row) {
  const auto gpu = row.object("gpu_utilisation");
  return {.name = row.text("name"),
          .runs = run_folders(row),
          .epoch_s = spread_of(row, "epoch_s"),
          .images_per_s = spread_of(row, "images_per_s"),
          .speedup = row.number("speedup"),
          .data_wait_share = row.number("data_wait_share"),
          .hidden_share = row.number("hidden_share"),
          .gpu_busy = gpu ? gpu->number("mean") : std::nullopt,
          .gpu_dips = gpu ? gpu->number("dips") : std::nullopt,
          .ceiling_share = row.number("ceiling_share"),
          .losses_agree = row.boolean("losses_agree")};
}

}  // namespace

CompareFile read_compare_file(const std::string& file) {
  const PlacedJson placed = read_placed_json(file);
  const Members all(placed, "", placed.value);
  if (all.text("kind") != "compare") all.fail("kind", "must be \"compare\"");
  if (all.integer("version") != kVersion) {
    all.fail("version", "isn't one that this slipstream reads; use the one that wrote it");
  }
  CompareFile compare{.device = all.text("device"),
                      .command = all.text("command"),
                      .sentence = all.text("sentence"),
                      .rounds = all.integer("rounds"),
                      .losses_agree = all.boolean("losses_agree").value_or(false),
                      .rows = {}};
  const Json& rows = all.array("rows");
  for (size_t at = 0; at < rows.size(); ++at) {
    compare.rows.push_back(row_of(Members(placed, fmt::format("rows[{}]", at), rows[at])));
  }
  return compare;
}

}  // namespace slipstream
