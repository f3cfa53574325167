#include "engine/pictures/histogram.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include "base/text.h"
#include "engine/io/format.h"
#include "engine/pictures/plots.h"

namespace engine {
namespace {

constexpr double kWidth = 1120, kHeight = 760;
constexpr Rect kArea = {96, 128, 980, 552};
constexpr double kHeadroom = 56;  // for the threshold's label and the peaks
constexpr double kFewest = 0.5;   // foot of the logarithmic axis: one pixel is seen
constexpr Colour kPixels = {0.42, 0.58, 0.76, 1};
constexpr Colour kAbove = {0.93, 0.55, 0.14, 1};
constexpr Colour kNoise = {0.70, 0.11, 0.16, 1};
constexpr Colour kGrid = {0.88, 0.88, 0.88, 1};

struct Histogram {
  double low = 0, high = 1, bin = 1;
  std::vector<double> counts;
  int64_t pixels = 0;  // finite ones
  int64_t beyond = 0;  // of these, outside the axis
};

// The axis covers all values, unless some are so far out (a hot pixel) that the rest would shrink.
Histogram histogram_of(const Image& map, double cutoff) {
  Histogram histogram;
  const auto [smallest, largest] = percentiles(map, 0.0, 1.0);
  histogram.low = std::max(smallest, -20.0);
  histogram.high = std::min(std::max(largest, std::min(cutoff, 2.0 * std::abs(largest) + 1.0)),
                            std::max(40.0, 3.0 * cutoff));
  if (!(histogram.high > histogram.low)) histogram.high = histogram.low + 1.0;
  histogram.bin = nice_step((histogram.high - histogram.low) / 150.0);
  // The threshold lies between two bins: what is above it is counted apart.
  const double edge = std::abs(cutoff) < 1e6 ? cutoff : 0.0;
  histogram.low = edge - std::ceil((edge - histogram.low) / histogram.bin + 2) * histogram.bin;
  const auto bins =
      static_cast<size_t>(std::ceil((histogram.high - histogram.low) / histogram.bin) + 3);
  histogram.high = histogram.low + static_cast<double>(bins) * histogram.bin;
  histogram.counts.assign(bins, 0.0);
  for (const float value : map.pixels) {
    if (!std::isfinite(value)) continue;
    ++histogram.pixels;
    const double place = std::floor((value - histogram.low) / histogram.bin);
    if (place < 0 || place >= static_cast<double>(bins)) {
      ++histogram.beyond;
    } else {
      histogram.counts[static_cast<size_t>(place)] += 1.0;
    }
  }
  return histogram;
}

// Maps values to places on the sheet.
struct Axes {
  double low, high, most;

  double x(double z) const { return kArea.x + (z - low) / (high - low) * kArea.width; }
  double y(double count) const {
    const double part = std::log(std::max(count, kFewest) / kFewest) / std::log(most / kFewest);
    return kArea.bottom() - part * (kArea.height - kHeadroom);
  }
};

std::string power_text(int power) {
  if (power == 0) return "1";
  if (power == 1) return "10";
  constexpr const char* digits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  return std::string("10") + digits[power % 10];
}

void draw_count_axis(Canvas& canvas, const Axes& axes, double bin) {
  for (int power = 0; std::pow(10.0, power) <= axes.most * 1.001; ++power) {
    const double y = axes.y(std::pow(10.0, power));
    canvas.line({{kArea.x, y}, {kArea.right(), y}}, kGrid, 1);
    canvas.line({{kArea.x - 6, y}, {kArea.x, y}}, kInk, 1.2);
    canvas.text({kArea.x - 10, y}, power_text(power), {.size = 14, .align = Align::kRight});
  }
  canvas.text({kArea.x - 70, kArea.y + 0.5 * kArea.height},
              "pixels in each " + tick_text(bin, bin) + " of z",
              {.size = 16, .align = Align::kCentre, .upwards = true});
}

void draw_bars(Canvas& canvas, const Axes& axes, const Histogram& histogram, double cutoff) {
  for (size_t i = 0; i < histogram.counts.size(); ++i) {
    if (histogram.counts[i] <= 0) continue;
    const double z = histogram.low + static_cast<double>(i) * histogram.bin;
    const double top = axes.y(histogram.counts[i]);
    const double left = axes.x(z);
    canvas.fill({left, top, axes.x(z + histogram.bin) - left, kArea.bottom() - top},
                z + 0.5 * histogram.bin > cutoff ? kAbove : kPixels);
  }
}

void draw_noise(Canvas& canvas, const Axes& axes, const Histogram& histogram, double correlations) {
  std::vector<Point> points;
  constexpr int kSteps = 800;
  for (int i = 0; i <= kSteps; ++i) {
    const double z = axes.low + (axes.high - axes.low) * i / kSteps;
    const double count =
        noise_density(z, static_cast<double>(histogram.pixels), correlations) * histogram.bin;
    if (count >= kFewest) points.push_back({axes.x(z), axes.y(count)});
  }
  if (points.size() > 1) canvas.line(points, kNoise, 2.2);
}

void draw_threshold(Canvas& canvas, const Axes& axes, double cutoff) {
  const double x = axes.x(cutoff);
  if (x < kArea.x || x > kArea.right()) return;
  canvas.line({{x, kArea.y}, {x, kArea.bottom()}}, kInk, 1.6, true);
  const std::string label = format("threshold z = %.2f", cutoff);
  TextStyle style = {.size = 15, .bold = true};
  const bool left = x + canvas.text_width(label, style) + 16 > kArea.right();
  style.align = left ? Align::kRight : Align::kLeft;
  canvas.text({x + (left ? -8 : 8), kArea.y + 16}, label, style);
}

std::vector<Point> triangle(double x, double y) {
  return {{x - 6, y - 6}, {x + 6, y - 6}, {x, y + 5}};
}

void draw_peaks(Canvas& canvas, const Axes& axes, const std::vector<Peak>& peaks,
                PeakMetric metric) {
  for (const Peak& peak : peaks) {
    const double z = score_of(peak, metric);
    if (z >= axes.low && z <= axes.high) canvas.polygon(triangle(axes.x(z), kArea.y + 42), kInk);
  }
}

struct LegendEntry {
  std::string text;
  std::optional<Colour> box, line;  // else a triangle
};

void draw_legend(Canvas& canvas, const std::vector<LegendEntry>& entries) {
  double x = kArea.x;
  const double y = 100;
  for (const LegendEntry& entry : entries) {
    if (entry.box) canvas.fill({x, y - 7, 22, 14}, *entry.box);
    if (entry.line) canvas.line({{x, y}, {x + 22, y}}, *entry.line, 2.2);
    if (!entry.box && !entry.line) canvas.polygon(triangle(x + 11, y), kInk);
    const TextStyle style = {.size = 15};
    canvas.text({x + 29, y}, entry.text, style);
    x += 29 + canvas.text_width(entry.text, style) + 26;
  }
}

}  // namespace

double noise_density(double z, double pixels, double correlations) {
  // In logarithms: N Phi^(N-1) is a huge number times a tiny one.
  const double log_phi = -0.5 * z * z - 0.5 * std::log(2.0 * std::numbers::pi);
  const double log_below = z >= 0 ? std::log1p(-0.5 * std::erfc(z / std::numbers::sqrt2))
                                  : std::log(0.5 * std::erfc(-z / std::numbers::sqrt2));
  const double others = correlations > 1 ? (correlations - 1) * log_below : 0.0;
  return pixels * std::exp(std::log(correlations) + log_phi + others);
}

std::string histogram_picture(const Maps& maps, const std::vector<Peak>& peaks,
                              const PictureContext& context) {
  const bool scaled = context.metric == PeakMetric::kScaledMip;
  const Histogram histogram = histogram_of(scaled ? maps.scaled_mip : maps.mip, context.cutoff);
  const auto correlations = static_cast<double>(maps.total_correlations);
  const double most = *std::max_element(histogram.counts.begin(), histogram.counts.end());
  const Axes axes = {histogram.low, histogram.high, std::max(10.0, 1.6 * most)};

  Canvas canvas(kWidth, kHeight);
  const std::string metric = scaled ? "scaled MIP" : "MIP";
  std::string subtitle =
      "Histogram of the " + metric + " over " + base::grouped_number(histogram.pixels) + " pixels";
  if (histogram.beyond > 0) {
    subtitle += "  ·  " + base::grouped_number(histogram.beyond) + " of them beyond the axis";
  }
  if (context.cutoff > axes.high || context.cutoff < axes.low) {
    subtitle += "  ·  threshold z = " + tick_text(context.cutoff, 0.01) + " beyond the axis";
  }
  draw_titles(canvas, 24, kWidth - 48, plain_text(context.micrograph_name), subtitle);
  std::vector<LegendEntry> legend = {{"pixels", kPixels, {}}, {"above the threshold", kAbove, {}}};
  draw_count_axis(canvas, axes, histogram.bin);
  draw_bars(canvas, axes, histogram, context.cutoff);
  if (correlations > 0) {
    canvas.clip(kArea);
    draw_noise(canvas, axes, histogram, correlations);
    canvas.unclip();
    legend.push_back({"noise: the largest of " + base::grouped_number(maps.total_correlations) +
                          " independent values",
                      {},
                      kNoise});
  }
  draw_threshold(canvas, axes, context.cutoff);
  draw_peaks(canvas, axes, peaks, context.metric);
  legend.push_back({base::counted(static_cast<int64_t>(peaks.size()), "peak"), {}, {}});
  draw_legend(canvas, legend);
  draw_x_axis(canvas, kArea, axes.low, axes.high, "z (" + metric + ")");
  return canvas.png();
}

}  // namespace engine
