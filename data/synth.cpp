#include "data/synth.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <system_error>
#include <utility>
#include <vector>

#include "data/error.h"
#include "data/file_io.h"
#include "data/random.h"
#include "data/synth_pattern.h"

namespace slipstream {
namespace {

namespace fs = std::filesystem;

// ---- Images: a pattern in colours, lit, with things in front and noise.

/// A tinted gray, BGR: what is lighter is lighter in most channels, as under one lamp.
cv::Scalar draw_colour(double low, double high, Random& random) {
  const double brightness = random.uniform(low, high);
  const auto channel = [&] { return std::clamp(brightness + random.uniform(-50, 50), 5.0, 250.0); };
  const double blue = channel(), green = channel();
  return {blue, green, channel()};
}

/// A colour that varies smoothly over the image: [height, width] float32 x 3.
cv::Mat lit_colour(const cv::Scalar& colour, cv::Size size, cv::RNG& generator) {
  cv::Mat coarse(3, 3, CV_32FC3);
  generator.fill(coarse, cv::RNG::NORMAL, colour, cv::Scalar::all(14));
  cv::Mat lit;
  cv::resize(coarse, lit, size, 0, 0, cv::INTER_CUBIC);
  return lit;
}

/// [height, width] uint8 x 3, BGR. Foreground and background differ in brightness, so gray will do.
cv::Mat draw_image(int64_t label, cv::Size size, Random& random) {
  const cv::Mat cover = draw_pattern(label, size, random);
  cv::Scalar back_colour = draw_colour(20, 100, random), front_colour = draw_colour(150, 235, random);
  if (random.uniform() < 0.2) std::swap(back_colour, front_colour);

  const uint64_t high_bits = random.bits();
  cv::RNG generator(high_bits << 32 | random.bits());
  const cv::Mat back = lit_colour(back_colour, size, generator);
  const cv::Mat front = lit_colour(front_colour, size, generator);
  cv::Mat cover_bgr;
  cv::merge(std::array{cover, cover, cover}, cover_bgr);
  cv::Mat image;
  cv::Mat(back + cover_bgr.mul(front - back)).convertTo(image, CV_8U);

  const double side = std::min(size.width, size.height);
  for (uint32_t things = random.below(3); things > 0; --things) {
    const cv::Point2d centre{random.uniform(0, size.width), random.uniform(0, size.height)};
    const cv::Size2d axes{side * random.uniform(0.04, 0.16), side * random.uniform(0.04, 0.16)};
    const double angle = random.uniform(0, 180);
    const cv::Scalar colour = draw_colour(20, 235, random);
    cv::ellipse(image, cv::Point(centre), cv::Size(axes), angle, 0, 360, colour, cv::FILLED, cv::LINE_AA);
  }
  if (random.uniform() < 0.3) cv::GaussianBlur(image, image, {}, random.uniform(0.4, 0.004 * side + 0.5));
  cv::Mat grain(size, CV_16SC3);
  generator.fill(grain, cv::RNG::NORMAL, cv::Scalar::all(0), cv::Scalar::all(random.uniform(1, 10)));
  cv::add(image, grain, image, cv::noArray(), CV_8U);
  return image;
}

cv::Size draw_size(const SynthOptions& options, Random& random) {
  const auto low = static_cast<double>(options.min_size), high = static_cast<double>(options.max_size);
  const double width = random.uniform(low, high + 1);
  const double height = std::clamp(width * std::exp2(random.uniform(-1, 1)), low, high);
  return {static_cast<int>(width), static_cast<int>(height)};
}

struct Encoded {
  std::string extension;
  std::vector<uint8_t> bytes;
};

Encoded encode(const cv::Mat& bgr, Random& random) {
  cv::Mat image = bgr;
  if (random.uniform() < 0.1) cv::cvtColor(bgr, image, cv::COLOR_BGR2GRAY);
  Encoded file;
  if (random.uniform() < 0.1) {
    file.extension = random.below(4) == 0 ? ".PNG" : ".png";
    cv::imencode(".png", image, file.bytes);
    return file;
  }
  constexpr const char* kExtensions[] = {".JPEG", ".JPEG", ".JPEG", ".jpg", ".jpg", ".jpeg", ".JPG"};
  file.extension = kExtensions[random.below(std::size(kExtensions))];
  const int quality = 50 + static_cast<int>(random.below(46));
  const int progressive = random.uniform() < 0.15 ? 1 : 0;
  cv::imencode(".jpg", image, file.bytes,
               {cv::IMWRITE_JPEG_QUALITY, quality, cv::IMWRITE_JPEG_PROGRESSIVE, progressive});
  return file;
}

// ---- Folders

enum class Part : uint64_t { kTrain = 0, kVal = 1 };

void write_image(const SynthOptions& options, Part part, int64_t label, int64_t number,
                 const std::string& folder) {
  const auto sample = (static_cast<uint64_t>(label) << 32) | static_cast<uint64_t>(number);
  Random random(options.seed, Draw::kSynth, static_cast<uint64_t>(part), sample);
  const cv::Size size = draw_size(options, random);
  const Encoded file = encode(draw_image(label, size, random), random);
  write_file_atomically(fmt::format("{}/{:04}{}", folder, number, file.extension),
                        {reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size()});
}

void check(const SynthOptions& o) {
  if (o.classes < 2 || o.classes > kSynthClasses) {
    throw UsageError(fmt::format("{} classes can't be drawn: ask for 2 to {}.", o.classes, kSynthClasses));
  }
  if (o.train_per_class < 1 || o.val_per_class < 0) {
    throw UsageError(
        fmt::format("{} training and {} validation images a class can't be drawn: ask for at least 1 and 0.",
                    o.train_per_class, o.val_per_class));
  }
  if (o.min_size < 16 || o.max_size < o.min_size || o.max_size > 8192) {
    throw UsageError(
        fmt::format("Images of {} to {} pixels a side can't be drawn: ask for sizes in 16 to 8192.",
                    o.min_size, o.max_size));
  }
}

void create_folder(const std::string& folder) {
  std::error_code code;
  fs::create_directories(folder, code);
  if (code) throw Error(fmt::format("Can't create the folder {}: {}.", folder, code.message()));
}

}  // namespace

void write_synth(const SynthOptions& options,
                 const std::function<void(int64_t done, int64_t total)>& progress) {
  check(options);
  for (const char* name : {"train", "val"}) {
    if (fs::exists(fs::path(options.folder) / name)) {
      throw Error(
          fmt::format("{}/{} is there already: remove it or name another folder.", options.folder, name));
    }
  }

  const int64_t total = options.classes * (options.train_per_class + options.val_per_class);
  int64_t done = 0;
  for (const Part part : {Part::kTrain, Part::kVal}) {
    const int64_t count = part == Part::kTrain ? options.train_per_class : options.val_per_class;
    if (count == 0) continue;
    for (int64_t label = 0; label < options.classes; ++label) {
      const std::string folder = fmt::format("{}/{}/{}", options.folder,
                                             part == Part::kTrain ? "train" : "val", pattern_name(label));
      create_folder(folder);
      for (int64_t number = 0; number < count; ++number) {
        write_image(options, part, label, number, folder);
        if (progress) progress(++done, total);
      }
    }
  }
}

}  // namespace slipstream
