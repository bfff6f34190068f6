#include "app/input_table.h"

#include <fmt/format.h>

#include <cmath>

#include "app/side_by_side.h"
#include "app/units.h"

namespace slipstream {
namespace {

struct Row {
  const char* title;
  std::string (*cell)(const InputRate&);
};

std::string amount(double value) { return std::isfinite(value) ? rounded(value) : "-"; }
std::string milliseconds(double seconds) { return rounded(seconds * 1e3) + " ms"; }
std::string an_image(double seconds, const InputRate& rate) {
  return rate.images > 0 ? rounded(seconds / static_cast<double>(rate.images) * 1e6) + " us" : "-";
}

constexpr Row kRows[] = {
    {"mode", [](const InputRate& rate) { return rate.mode; }},
    {"decode", [](const InputRate& rate) { return rate.decode; }},
    {"images", [](const InputRate& rate) { return fmt::format("{}", rate.images); }},
    {"images/s", [](const InputRate& rate) { return amount(rate.images_per_s()); }},
    {"batch latency p50", [](const InputRate& rate) { return milliseconds(rate.latency_p50_s); }},
    {"batch latency p95", [](const InputRate& rate) { return milliseconds(rate.latency_p95_s); }},
    {"batch latency p99", [](const InputRate& rate) { return milliseconds(rate.latency_p99_s); }},
    {"read", [](const InputRate& rate) { return seconds_text(rate.times.read_s); }},
    {"  an image", [](const InputRate& rate) { return an_image(rate.times.read_s, rate); }},
    {"decoding", [](const InputRate& rate) { return seconds_text(rate.times.decode_s); }},
    {"  an image", [](const InputRate& rate) { return an_image(rate.times.decode_s, rate); }},
    {"resize", [](const InputRate& rate) { return seconds_text(rate.times.resize_s); }},
    {"  an image", [](const InputRate& rate) { return an_image(rate.times.resize_s, rate); }},
    {"host to device", [](const InputRate& rate) { return seconds_text(rate.times.h2d_s); }},
    {"  an image", [](const InputRate& rate) { return an_image(rate.times.h2d_s, rate); }},
    {"CPU s/1,000 images", [](const InputRate& rate) { return amount(rate.cpu_s_per_1000_images()); }},
    {"cores in use", [](const InputRate& rate) { return amount(rate.cores()); }},
    {"JPEG engines in use",
     [](const InputRate& rate) { return rate.jpeg_util ? share_text(*rate.jpeg_util) : "-"; }},
};

}  // namespace

std::string input_table(const std::vector<InputRate>& rates) {
  std::vector<std::string> titles;
  for (const Row& row : kRows) titles.emplace_back(row.title);
  std::vector<std::vector<std::string>> columns;
  for (const InputRate& rate : rates) {
    std::vector<std::string>& cells = columns.emplace_back();
    for (const Row& row : kRows) cells.push_back(row.cell(rate));
  }
  return side_by_side(titles, columns);
}

}  // namespace slipstream
