#pragma once

#include <map>
#include <optional>
#include <string>

namespace slipstream {

/// Which of cuDNN's engines was fastest for each convolution, in a file that later runs start with: JSON, an
/// object of {"engine": ..., "ms": ...} by the problem's name, for people to read.
class ConvChoices {
 public:
  struct Choice {
    std::string engine;  ///< cuDNN's name of it, with its settings; empty: none was fit
    double ms = 0;       ///< that it took when it was chosen

    bool operator==(const Choice&) const = default;
  };

  /// A file that is missing or isn't such a file counts as empty, and is replaced. Empty path: none is kept.
  explicit ConvChoices(std::string path);

  std::optional<Choice> find(const std::string& problem) const;

  /// Keeps the choice and writes the file, with what other processes have added to it meanwhile. A file that
  /// can't be written is gone without.
  void add(const std::string& problem, const Choice& choice);

 private:
  void read();

  std::string path_;
  std::map<std::string, Choice> choices_;
};

/// Where choices are kept for a GPU and a version of cuDNN: in $SLIPSTREAM_CACHE, else slipstream/ in
/// $XDG_CACHE_HOME or ~/.cache. Empty if there is no such folder and none can be made.
std::string conv_choices_path(const std::string& gpu, int64_t cudnn_version);

}  // namespace slipstream
