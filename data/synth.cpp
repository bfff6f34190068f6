#include "data/synth.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <numbers>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <system_error>
#include <utility>
#include <vector>

#include "data/error.h"
#include "data/file_io.h"
#include "data/random.h"

namespace slipstream {
namespace {

namespace fs = std::filesystem;
using cv::Point2d;
using std::abs, std::floor, std::max, std::min, std::numbers::pi;

// ---- Patterns: a function of the plane that is positive in the foreground. A period or a cell is 1 wide.

/// What stands in one cell of the plane; 8 by 8 of them repeat.
struct Place {
  Point2d centre;     ///< from the cell's middle
  Point2d direction;  ///< a unit vector: a motif's x axis
  double size = 0;    ///< radius; 0: the cell is empty
  double height = 0;  ///< in [0, 1), for noise
};

/// What differs from image to image of one class, before colour.
struct Draws {
  double frequency = 1;  ///< cells along the short side
  Point2d centre;        ///< of the plane, as a share of the image's sides
  Point2d direction;     ///< a unit vector, near the x axis: upright patterns stay upright
  double mirror = 1;     ///< -1 or 1
  double level = 0;      ///< moves edges: thin or thick stripes
  int rays = 9;          ///< of a star of rays
  int arms = 4;          ///< of a spiral
  std::array<Place, 64> places;

  const Place& at(double column, double row) const {
    const auto wrap = [](double t) { return static_cast<size_t>(static_cast<int>(t) & 7); };
    return places[8 * wrap(row) + wrap(column)];
  }
};

constexpr double kSharpness = 12;  ///< from a pattern's value to coverage
double soft(double value) { return value / (2 * kSharpness); }

double within(double t) { return t - floor(t) - 0.5; }      // place within a period, [-0.5, 0.5)
double zigzag(double t) { return 4 * abs(within(t)) - 1; }  // [-1, 1], as a triangle wave
double turn(Point2d p) { return std::atan2(p.y, p.x) / (2 * pi); }
double wave(double t) { return std::cos(2 * pi * t); }
double radius(Point2d p) { return std::sqrt(p.x * p.x + p.y * p.y); }  // hypot takes 5 times as long
double larger(Point2d p) { return max(abs(p.x), abs(p.y)); }
double smaller(Point2d p) { return min(abs(p.x), abs(p.y)); }
Point2d direction(double angle) { return {std::cos(angle), std::sin(angle)}; }
Point2d rotate(Point2d p, Point2d by) { return {by.x * p.x - by.y * p.y, by.y * p.x + by.x * p.y}; }
/// By 45 degrees.
Point2d tilt(Point2d p) { return rotate(p, {std::numbers::sqrt2 / 2, std::numbers::sqrt2 / 2}); }

/// The radius of the circle inscribed in the regular polygon around the origin that goes through p.
double polygon_radius(Point2d p, int corners) {
  return radius(p) * std::cos(2 * pi * within(turn(p) * corners) / corners);
}

/// Smooth noise in [-1, 1): the places' heights, interpolated.
double noise(Point2d p, const Draws& d) {
  const double x = floor(p.x), y = floor(p.y);
  const auto ease = [](double t) { return t * t * (3 - 2 * t); };
  const double u = ease(p.x - x), v = ease(p.y - y);
  const double top = std::lerp(d.at(x, y).height, d.at(x + 1, y).height, u);
  const double bottom = std::lerp(d.at(x, y + 1).height, d.at(x + 1, y + 1).height, u);
  return 2 * std::lerp(top, bottom, v) - 1;
}

/// Positive in irregular cells, negative along their borders.
double voronoi(Point2d p, const Draws& d) {
  double nearest = 9, second = 9;
  for (int neighbour = 0; neighbour < 9; ++neighbour) {
    const int row = neighbour / 3 - 1, column = neighbour % 3 - 1;
    const double x = floor(p.x) + column, y = floor(p.y) + row;
    const double height = d.at(x, y).height;
    const Point2d seed(x + 0.5 + 0.4 * wave(height), y + 0.5 + 0.4 * wave(7 * height));
    const double distance = radius(p - seed);
    second = min(second, max(nearest, distance));
    nearest = min(nearest, distance);
  }
  return second - nearest - 0.15;
}

double bricks(Point2d p) {
  const double row = floor(2 * p.y);
  return min(0.4 - abs(within(2 * p.y)), 0.9 - 2 * abs(within(p.x + row / 2)));
}

double honeycomb(Point2d p) {
  const double height = std::numbers::sqrt3;
  const Point2d even(within(p.x), height * within(p.y / height));
  const Point2d odd(within(p.x + 0.5), height * within(p.y / height + 0.5));
  const Point2d q = radius(even) < radius(odd) ? even : odd;
  return 0.42 - max(abs(q.x), abs(q.x) / 2 + abs(q.y) * height / 2);
}

double scales(Point2d p) {
  const double row = floor(2 * p.y), y = p.y - row / 2, x = within(p.x + row / 2);
  const double own = radius({x, y});
  return 0.4 - (own < 0.5 ? own : radius({abs(x) - 0.5, y + 0.5}));
}

double basket(Point2d p) {
  const bool lying = ((static_cast<int>(floor(p.x)) + static_cast<int>(floor(p.y))) & 1) == 0;
  return zigzag(3 * (lying ? p.y : p.x));
}

/// The value in a unit circle's motif, set into the cell that p is in.
template <typename Motif>
double placed(Point2d p, const Draws& d, Motif motif) {
  const Place& place = d.at(floor(p.x), floor(p.y));
  if (place.size == 0) return -1;
  return motif(rotate(Point2d(within(p.x), within(p.y)) - place.centre, place.direction) / place.size);
}

double disc(Point2d p) { return 1 - radius(p); }
double ring(Point2d p) { return 0.22 - abs(radius(p) - 0.75); }
double square(Point2d p) { return 0.75 - larger(p); }
double frame(Point2d p) { return 0.15 - abs(larger(p) - 0.65); }
double triangle(Point2d p) { return 0.5 - polygon_radius(p, 3); }
double delta(Point2d p) { return 0.11 - abs(polygon_radius(p, 3) - 0.39); }
double cross(Point2d p) { return min(0.95 - larger(p), 0.3 - smaller(p)); }
double star(Point2d p) { return 0.35 + 0.65 * std::pow(2 * abs(within(turn(p) * 5)), 1.5) - radius(p); }
double crescent(Point2d p) { return min(0.95 - radius(p), radius(p - Point2d(0.45, 0)) - 0.75); }
double bar(Point2d p) { return min(0.95 - abs(p.x), 0.2 - abs(p.y)); }

/// Whether the places are all alike or each by chance.
enum class Layout { kLattice, kScattered };

struct Kind {
  const char* name;
  Layout layout;
  double (*value)(Point2d p, const Draws& d);
};

constexpr Layout kLattice = Layout::kLattice, kScattered = Layout::kScattered;

/// A data set of n classes has the first n: the most different ones come first.
constexpr Kind kKinds[] = {
    {"checker", kLattice, [](Point2d p, const Draws&) { return wave(p.x / 2) * wave(p.y / 2); }},
    {"rings", kLattice, [](Point2d p, const Draws& d) { return zigzag(radius(p)) - d.level; }},
    {"stripes", kLattice, [](Point2d p, const Draws& d) { return zigzag(p.y) - d.level; }},
    {"dots", kLattice, [](Point2d p, const Draws& d) { return placed(p * 1.3, d, disc); }},
    {"triangles", kScattered, [](Point2d p, const Draws& d) { return placed(p, d, triangle); }},
    {"waves", kLattice,
     [](Point2d p, const Draws& d) { return zigzag(p.y + 0.3 * wave(p.x / 2)) - d.level; }},
    {"columns", kLattice, [](Point2d p, const Draws& d) { return zigzag(p.x) - d.level; }},
    {"rays", kLattice, [](Point2d p, const Draws& d) { return zigzag(turn(p) * d.rays) - d.level; }},
    {"blobs", kScattered,
     [](Point2d p, const Draws& d) { return 2 * noise(rotate(p, d.places[0].direction), d) - d.level; }},
    {"diagonals", kLattice, [](Point2d p, const Draws& d) { return zigzag(tilt(p).y) - d.level; }},
    {"crosses", kScattered, [](Point2d p, const Draws& d) { return placed(p, d, cross); }},
    {"spiral", kLattice,
     [](Point2d p, const Draws& d) {
       return zigzag(turn(p) * d.arms + 0.9 * std::log(radius(p) + 1e-9)) - d.level;
     }},
    {"honeycomb", kLattice, [](Point2d p, const Draws&) { return honeycomb(p); }},
    {"mesh", kLattice,
     [](Point2d p, const Draws&) {
       return smaller({within(p.x), within(p.y)}) - 0.12;
     }},
    {"nested-squares", kLattice, [](Point2d p, const Draws& d) { return zigzag(larger(p)) - d.level; }},
    {"bricks", kLattice, [](Point2d p, const Draws&) { return bricks(p); }},
    {"stars", kScattered, [](Point2d p, const Draws& d) { return placed(p, d, star); }},
    {"glow", kLattice, [](Point2d p, const Draws&) { return soft(1 - 1.2 * radius(p) / 2); }},
    {"cells", kScattered, [](Point2d p, const Draws& d) { return voronoi(p, d); }},
    {"hoops", kScattered, [](Point2d p, const Draws& d) { return placed(p, d, ring); }},
    {"nested-triangles", kLattice,
     [](Point2d p, const Draws& d) { return zigzag(1.3 * polygon_radius(p, 3)) - d.level; }},
    {"basket", kLattice, [](Point2d p, const Draws& d) { return basket(p) - d.level; }},
    {"zigzags", kLattice,
     [](Point2d p, const Draws& d) { return zigzag(p.y + 0.4 * zigzag(p.x / 2)) - d.level; }},
    {"gradient", kLattice, [](Point2d p, const Draws& d) { return soft(2 * p.y / d.frequency); }},
    {"crescents", kScattered, [](Point2d p, const Draws& d) { return placed(p, d, crescent); }},
    {"scales", kLattice, [](Point2d p, const Draws&) { return scales(p); }},
    {"frames", kScattered, [](Point2d p, const Draws& d) { return placed(p, d, frame); }},
    {"clouds", kScattered, [](Point2d p, const Draws& d) { return soft(1.5 * noise(p / 2, d)); }},
    {"sticks", kScattered, [](Point2d p, const Draws& d) { return placed(p, d, bar); }},
    {"trellis", kLattice,
     [](Point2d p, const Draws&) {
       return smaller({within(tilt(p).x), within(tilt(p).y)}) - 0.12;
     }},
    {"squares", kScattered, [](Point2d p, const Draws& d) { return placed(p, d, square); }},
    {"nested-diamonds", kLattice,
     [](Point2d p, const Draws& d) { return zigzag(larger(tilt(p))) - d.level; }},
    {"cross-lattice", kLattice, [](Point2d p, const Draws& d) { return placed(p, d, cross); }},
    {"ripples", kLattice,
     [](Point2d p, const Draws& d) { return zigzag(p.x + 0.3 * wave(p.y / 2)) - d.level; }},
    {"discs", kScattered, [](Point2d p, const Draws& d) { return placed(p, d, disc); }},
    {"harlequin", kLattice,
     [](Point2d p, const Draws&) { return wave(tilt(p).x / 2) * wave(tilt(p).y / 2); }},
    {"triangle-lattice", kLattice, [](Point2d p, const Draws& d) { return placed(p, d, triangle); }},
    {"streaks", kScattered,
     [](Point2d p, const Draws& d) {
       return 2 * noise({p.x / 4, 2 * p.y}, d) - d.level;
     }},
    {"star-lattice", kLattice, [](Point2d p, const Draws& d) { return placed(p, d, star); }},
    {"bolts", kLattice,
     [](Point2d p, const Draws& d) { return zigzag(p.x + 0.4 * zigzag(p.y / 2)) - d.level; }},
    {"hoop-lattice", kLattice, [](Point2d p, const Draws& d) { return placed(p, d, ring); }},
    {"deltas", kScattered, [](Point2d p, const Draws& d) { return placed(p, d, delta); }},
    {"square-lattice", kLattice, [](Point2d p, const Draws& d) { return placed(p, d, square); }},
    {"dashes", kLattice,
     [](Point2d p, const Draws& d) {
       return min(zigzag(p.y) - d.level, 0.4 - zigzag(p.x / 2 + 0.38 * floor(p.y)));
     }},
    {"crescent-lattice", kLattice, [](Point2d p, const Draws& d) { return placed(p, d, crescent); }},
    {"frame-lattice", kLattice, [](Point2d p, const Draws& d) { return placed(p, d, frame); }},
    {"coil", kLattice, [](Point2d p, const Draws& d) { return zigzag(radius(p) + turn(p)) - d.level; }},
    {"stick-lattice", kLattice, [](Point2d p, const Draws& d) { return placed(p, d, bar); }},
    {"delta-lattice", kLattice, [](Point2d p, const Draws& d) { return placed(p, d, delta); }},
    {"rain", kScattered,
     [](Point2d p, const Draws& d) {
       return 2 * noise({2 * p.x, p.y / 4}, d) - d.level;
     }},
};
static_assert(std::size(kKinds) == kSynthClasses);

Draws draw_pattern(Layout layout, Random& random) {
  Draws d;
  d.frequency = layout == Layout::kLattice ? random.uniform(4.5, 7) : random.uniform(3, 4.5);
  d.centre = {random.uniform(0.35, 0.65), random.uniform(0.35, 0.65)};
  d.direction = direction(random.uniform(-0.14, 0.14));
  d.mirror = random.below(2) == 0 ? -1 : 1;
  d.level = random.uniform(-0.4, 0.4);
  d.rays = 9 + static_cast<int>(random.below(6));
  d.arms = 4 + static_cast<int>(random.below(4));
  const Point2d common_direction = direction(random.uniform(0, 2 * pi));
  const double common_size = random.uniform(0.3, 0.46);
  for (Place& place : d.places) {
    place.height = random.uniform();
    place.direction = common_direction;
    place.size = common_size;
    if (layout == Layout::kLattice) continue;
    place.direction = direction(random.uniform(0, 2 * pi));
    place.size = random.uniform() < 0.15 ? 0 : random.uniform(0.38, 0.49);
    const double room = 0.5 - place.size;  // it stays in its cell
    place.centre = {random.uniform(-room, room), random.uniform(-room, room)};
  }
  return d;
}

/// How much of each pixel is foreground, 0 to 1: [height, width] float32.
cv::Mat coverage(const Kind& kind, const Draws& d, cv::Size size) {
  constexpr int kSamples = 2;  // a side of a pixel
  cv::Mat fine(size * kSamples, CV_32F);
  const double scale = d.frequency / min(fine.cols, fine.rows);
  for (int row = 0; row < fine.rows; ++row) {
    auto* out = fine.ptr<float>(row);
    for (int column = 0; column < fine.cols; ++column) {
      const Point2d p(d.mirror * (column - d.centre.x * fine.cols), row - d.centre.y * fine.rows);
      const double value = kind.value(rotate(p * scale, d.direction), d);
      out[column] = static_cast<float>(std::clamp(0.5 + kSharpness * value, 0.0, 1.0));
    }
  }
  cv::Mat cover;
  cv::resize(fine, cover, size, 0, 0, cv::INTER_AREA);
  return cover;
}

// ---- Images: a pattern's coverage in colours, lit, with things in front and noise.

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
cv::Mat draw_image(const Kind& kind, cv::Size size, Random& random) {
  const cv::Mat cover = coverage(kind, draw_pattern(kind.layout, random), size);
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

  const double side = min(size.width, size.height);
  for (uint32_t things = random.below(3); things > 0; --things) {
    const Point2d centre{random.uniform(0, size.width), random.uniform(0, size.height)};
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
  const Encoded file = encode(draw_image(kKinds[label], size, random), random);
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
      const std::string folder =
          fmt::format("{}/{}/{}", options.folder, part == Part::kTrain ? "train" : "val", kKinds[label].name);
      create_folder(folder);
      for (int64_t number = 0; number < count; ++number) {
        write_image(options, part, label, number, folder);
        if (progress) progress(++done, total);
      }
    }
  }
}

}  // namespace slipstream
