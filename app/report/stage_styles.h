#pragma once

#include <array>
#include <string>
#include <string_view>

namespace slipstream {

/// A stage of the input: its key in report.json, what it is called, and its colour in bars and timelines.
struct StageStyle {
  const char* key;
  const char* name;
  const char* style;
};

inline constexpr std::array<StageStyle, 4> kStages = {{{"read_s", "read", "s5"},
                                                       {"decode_s", "decode", "s4"},
                                                       {"resize_s", "resize and normalise", "s3"},
                                                       {"h2d_s", "copy to the device", "s7"}}};

/// The colour of a kind of span in a timeline: that of the stage or of compute where its name says so, else
/// the `other`th of the colours that these leave.
std::string span_style(std::string_view kind, size_t other);

}  // namespace slipstream
