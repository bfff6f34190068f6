#include "app/report/stage_styles.h"

#include <utility>

namespace slipstream {

std::string span_style(std::string_view kind, size_t other) {
  using Word = std::pair<std::string_view, const char*>;
  constexpr std::array<Word, 14> kWords = {{{"wait", "muted"},
                                            {"idle", "muted"},
                                            {"read", "s5"},
                                            {"decode", "s4"},
                                            {"resize", "s3"},
                                            {"normalise", "s3"},
                                            {"copy", "s7"},
                                            {"h2d", "s7"},
                                            {"queue", "s6"},
                                            {"step", "s1"},
                                            {"compute", "s1"},
                                            {"forward", "s1"},
                                            {"backward", "s6"},
                                            {"optim", "s8"}}};
  for (const auto& [word, style] : kWords) {
    if (kind.find(word) != std::string_view::npos) return style;
  }
  constexpr std::array<const char*, 3> kOthers = {"s2", "s6", "s8"};
  return kOthers[other % kOthers.size()];
}

}  // namespace slipstream
