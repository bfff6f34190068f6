#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace slipstream {

/// How many kinds of pattern can be drawn: the most classes that write_synth makes.
constexpr int64_t kSynthClasses = 50;

/// A data set to generate.
struct SynthOptions {
  std::string folder;            ///< gets train/ and val/, which mustn't exist yet
  int64_t classes = 10;          ///< 2 to kSynthClasses
  int64_t train_per_class = 60;  ///< images, at least 1
  int64_t val_per_class = 20;    ///< images; 0: no val/
  uint64_t seed = 0;
  int64_t min_size = 64;  ///< pixels of a side, at least 16
  int64_t max_size = 320;
};

/// Writes folder/train/<class>/0000.JPEG and so on, and folder/val alike: generated images that a network can
/// learn from, for trying a whole run without a download. A class is a pattern (a checker, rings, scattered
/// triangles); colours, sizes, places, lighting, noise and things in front are drawn for each image, so
/// neither colour nor left and right tell the classes apart. About a tenth are PNG, a tenth gray, and a
/// seventh of the JPEGs progressive. An image depends on the seed, its class, its number and the size limits
/// alone: on one machine, the same options give the same bytes. `progress`, which may be empty, is called
/// after each image. Throws UsageError for options out of range and Error for a folder that can't be written
/// or already holds train/ or val/.
void write_synth(const SynthOptions& options,
                 const std::function<void(int64_t done, int64_t total)>& progress);

}  // namespace slipstream
