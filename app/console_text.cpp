#include "app/console_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "app/units.h"

namespace slipstream {
namespace {

/// Adds facts that are known, as "name value".
class Facts {
 public:
  void add(std::string_view name, const std::optional<double>& value, std::string (*shown)(double)) {
    if (value) facts_.push_back(fmt::format("{} {}", name, shown(*value)));
  }
  bool empty() const { return facts_.empty(); }
  std::string text(std::string_view separator) const {
    return fmt::format("{}", fmt::join(facts_, separator));
  }

 private:
  std::vector<std::string> facts_;
};

}  // namespace

std::string progress_bar(int64_t done, int64_t all, int columns) {
  const int inside = columns - 2;
  const auto filled = static_cast<int>(all > 0 ? inside * std::clamp<int64_t>(done, 0, all) / all : 0);
  std::string text(static_cast<size_t>(inside), ' ');
  std::fill_n(text.begin(), filled, '=');
  if (filled > 0 && filled < inside) text[static_cast<size_t>(filled)] = '>';
  return "[" + text + "]";
}

std::string progress_text(const Progress& progress, int columns) {
  const std::string_view phase = progress.phase;
  const std::string head =
      fmt::format("epoch {}/{}{}{}", progress.epoch, progress.epochs,
                  phase == "train" || phase.empty() ? "" : " ", phase == "train" ? "" : phase);
  const std::string steps = fmt::format(" {}/{}", progress.step, progress.steps);
  std::vector<std::string> facts = {rounded(progress.images_per_s) + " images/s"};
  if (progress.loss) facts.push_back("loss " + rounded(static_cast<double>(*progress.loss)));
  if (phase == "train") facts.push_back(fmt::format("lr {:.3g}", progress.lr));
  if (phase == "train") facts.push_back("wait " + share_text(progress.data_wait_share));
  if (progress.left_s > 0) facts.push_back("left " + seconds_text(progress.left_s));

  const auto room = static_cast<size_t>(std::max(columns, 0));
  std::string tail = steps;
  for (const std::string& fact : facts) {
    if (head.size() + tail.size() + 2 + fact.size() > room) break;
    tail += "  " + fact;
  }
  constexpr int kLeastBar = 10, kMostBar = 32;
  const int space = columns - static_cast<int>(head.size() + tail.size()) - 1;
  const std::string middle =
      space < kLeastBar ? "" : " " + progress_bar(progress.step, progress.steps, std::min(space, kMostBar));
  return (head + middle + tail).substr(0, room);
}

std::string epoch_text(const EpochReport& report) {
  Facts stages;
  stages.add("data wait", report.data_wait_s, seconds_text);
  stages.add("read", report.read_s, seconds_text);
  stages.add("decode", report.decode_s, seconds_text);
  stages.add("resize", report.resize_s, seconds_text);
  stages.add("h2d", report.h2d_s, seconds_text);
  stages.add("compute", report.compute_s, seconds_text);
  Facts shares;
  shares.add("hidden", report.hidden_share, share_text);
  shares.add("GPU", report.gpu.kernels, share_text);
  shares.add("at", report.gpu.clock_mhz, megahertz_text);
  shares.add("with", report.gpu.power_w, watts_text);
  Facts training;
  training.add("loss", report.train_loss, rounded);
  training.add("top1", report.train_top1, share_text);
  Facts validation;
  validation.add("loss", report.val_loss, rounded);
  validation.add("top1", report.val_top1, share_text);
  validation.add("top5", report.val_top5, share_text);

  std::string text = fmt::format("epoch {}: {}, {} images/s", report.epoch, seconds_text(report.wall_s),
                                 rounded(report.images_per_s));
  if (report.alone_share) {
    text += fmt::format(", {} of the step alone ({})", share_text(*report.alone_share),
                        rounded(*report.alone_images_per_s));
  }
  if (!stages.empty()) text += "; " + stages.text(", ");
  if (!shares.empty()) text += "; " + shares.text(", ");
  if (!training.empty()) text += "; train " + training.text(" ");
  if (!validation.empty()) text += "; val " + validation.text(" ");
  return text;
}

}  // namespace slipstream
