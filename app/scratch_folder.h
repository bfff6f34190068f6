#pragma once

#include <string>

namespace slipstream {

/// A folder of a name of its own, for files that nobody keeps; it is gone with the object.
class ScratchFolder {
 public:
  /// Makes `beside`.XXXXXX, and the folder above it. Throws Error naming what can't be made.
  explicit ScratchFolder(const std::string& beside);
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace slipstream
