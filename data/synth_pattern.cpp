#include "data/synth_pattern.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <numbers>
#include <opencv2/imgproc.hpp>

#include "data/random.h"
#include "data/synth.h"

namespace slipstream {
namespace {

using cv::Point2d;
using std::abs, std::floor, std::max, std::min, std::numbers::pi;

// A pattern is a function of the plane that is positive in the foreground. A period or a cell is 1 wide.

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

/// The most different ones come first.
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

Draws make_draws(Layout layout, Random& random) {
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

}  // namespace

const char* pattern_name(int64_t label) { return kKinds[label].name; }

cv::Mat draw_pattern(int64_t label, cv::Size size, Random& random) {
  const Kind& kind = kKinds[label];
  return coverage(kind, make_draws(kind.layout, random), size);
}

}  // namespace slipstream
