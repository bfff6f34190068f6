#include "app/report/over_time.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/report/steps_file.h"
#include "pipeline/percentile.h"

namespace slipstream {

std::vector<Interval> image_intervals(const std::vector<StepRecord>& steps) {
  std::vector<Interval> intervals;
  double now = 0;
  for (const StepRecord& step : steps) {
    const double end = now + step_seconds(step);
    intervals.push_back({now, end, static_cast<double>(step.images)});
    now = end;
  }
  return intervals;
}

std::vector<Interval> busy_intervals(const std::vector<StepRecord>& steps) {
  std::vector<Interval> intervals = image_intervals(steps);
  for (size_t at = 0; at < steps.size(); ++at) {
    intervals[at].begin_s += steps[at].times.data_wait_s;
    intervals[at].amount = steps[at].times.compute_s;
  }
  return intervals;
}

std::vector<Point> rates(const std::vector<Interval>& intervals, double end_s, size_t bins) {
  const double width = end_s / static_cast<double>(bins);
  std::vector<Point> points(bins);
  for (size_t bin = 0; bin < bins; ++bin) points[bin].x = width * (static_cast<double>(bin) + 0.5);
  for (const Interval& interval : intervals) {
    const double length = interval.end_s - interval.begin_s;
    if (!(length > 0) || !(width > 0)) continue;
    auto bin = static_cast<size_t>(interval.begin_s / width);
    for (; bin < bins && width * static_cast<double>(bin) < interval.end_s; ++bin) {
      const double from = std::max(interval.begin_s, width * static_cast<double>(bin));
      const double to = std::min(interval.end_s, width * static_cast<double>(bin + 1));
      points[bin].y += interval.amount * std::max(to - from, 0.0) / length / width;
    }
  }
  return points;
}

Series thinned(Series series, size_t most) {
  const size_t count = series.points.size();
  if (count <= most) return series;
  const std::vector<Point> all = std::exchange(series.points, {});
  for (size_t part = 0; part < most; ++part) {
    const size_t begin = part * count / most, end = (part + 1) * count / most;
    Point sum;
    double low = INFINITY, high = -INFINITY;
    for (size_t at = begin; at < end; ++at) {
      sum.x += all[at].x;
      sum.y += all[at].y;
      low = std::min(low, all[at].y);
      high = std::max(high, all[at].y);
    }
    const auto points = static_cast<double>(end - begin);
    series.points.push_back({sum.x / points, sum.y / points});
    series.lows.push_back(low);
    series.highs.push_back(high);
  }
  return series;
}

std::vector<Point> points_of(const std::vector<BusyBin>& bins) {
  std::vector<double> widths;
  for (size_t at = 1; at < bins.size(); ++at) widths.push_back(bins[at].time_s - bins[at - 1].time_s);
  const double usual = widths.empty() ? 0 : percentile(widths, 50);
  std::vector<Point> points;
  double now = 0;
  for (size_t at = 0; at < bins.size(); ++at) {
    const double width = at < widths.size() ? std::min(widths[at], usual) : usual;
    points.push_back({now + width / 2, bins[at].busy});
    now += width;
  }
  return points;
}

}  // namespace slipstream
