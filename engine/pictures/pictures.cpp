#include "engine/pictures/pictures.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numbers>
#include <tuple>

#include "base/text.h"
#include "engine/io/format.h"
#include "engine/io/input_errors.h"
#include "engine/pictures/histogram.h"
#include "engine/pictures/plots.h"

namespace engine {
namespace {

constexpr int kLongestImage = 1400;  // pixels shown
constexpr size_t kMostMarks = 5000;  // more would hide the image and take minutes

int bin_factor(const Image& image) {
  return (std::max(image.height, image.width) + kLongestImage - 1) / kLongestImage;
}

std::string peak_summary(size_t peaks, double cutoff) {
  const std::string above = format(" above z = %.2f", cutoff);
  if (peaks == 0) return "no peak" + above;
  std::string text = base::counted(static_cast<int64_t>(peaks), "peak") + above;
  if (peaks > kMostMarks) {
    text += " (the best " + base::grouped_number(static_cast<int64_t>(kMostMarks)) + " drawn)";
  }
  return text;
}

// What a circle around a peak stands for.
struct CircleSize {
  double radius = 0;  // pixels
  std::string text;   // "the particle (200 Å)"
};

CircleSize size_of_particle(const PictureContext& context) {
  const double particle = context.particle_radius.value_or(0.0);
  if (particle <= 0) {
    return {0.5 * context.template_size,
            "the template (" + std::to_string(context.template_size) + " pixels)"};
  }
  return {particle / context.pixel_size, format("the particle (%.4g Å)", 2 * particle)};
}

std::string micrograph_picture(const Image& micrograph, const std::vector<Peak>& peaks,
                               const PictureContext& context) {
  ImagePlot plot;
  plot.bin = bin_factor(micrograph);
  // Particles show in the slow waves: a tenth of the template's side, and a Gaussian that halves
  // waves of that length.
  const double low_pass = std::max(20.0, 0.1 * context.template_size * context.pixel_size);  // A
  const double sigma = low_pass * std::sqrt(std::log(2.0) / 2.0) /
                       (std::numbers::pi * context.pixel_size * plot.bin);
  plot.image = blurred(binned(micrograph, plot.bin, Binning::kMean), sigma);
  plot.height = micrograph.height;
  plot.width = micrograph.width;
  std::tie(plot.low, plot.high) = percentiles(plot.image, 0.005, 0.995);
  plot.pixel_size = context.pixel_size;
  plot.title = plain_text(context.micrograph_name);
  plot.subtitle = peak_summary(peaks.size(), context.cutoff) +
                  format("  ·  %.4g Å/pixel  ·  low-pass %.0f Å", context.pixel_size, low_pass);
  plot.x_label = "x (pixels)";
  plot.y_label = "y (pixels, downwards)";

  if (peaks.empty()) return image_plot_png(plot);
  const double half = context.template_size / 2;
  // Circles of the particle's size, unless together they would hide the micrograph.
  const double drawn = static_cast<double>(std::min(peaks.size(), kMostMarks));
  const double room =
      std::sqrt(static_cast<double>(plot.height) * plot.width / (std::numbers::pi * drawn));
  const CircleSize size = size_of_particle(context);
  plot.mark_radius = size.radius <= room ? size.radius : 0.5 * room;
  plot.subtitle +=
      (size.radius <= room ? "  ·  circles as wide as " : "  ·  circles smaller than ") + size.text;
  ColourBar bar = {.label = context.metric == PeakMetric::kMip ? "z of the peak (MIP)"
                                                               : "z of the peak (scaled MIP)",
                   .colours = peak_colour};
  bar.low = context.cutoff;
  bar.high = std::max<double>(score_of(peaks.front(), context.metric), bar.low + 0.1);
  for (size_t i = 0; i < std::min(peaks.size(), kMostMarks); ++i) {
    const double place = (score_of(peaks[i], context.metric) - bar.low) / (bar.high - bar.low);
    plot.marks.push_back({peaks[i].x + half, peaks[i].y + half, peak_colour(place)});
  }
  plot.bar = bar;
  return image_plot_png(plot);
}

std::string scaled_mip_picture(const Maps& maps, const std::vector<Peak>& peaks,
                               const PictureContext& context) {
  ImagePlot plot;
  plot.bin = bin_factor(maps.scaled_mip);
  plot.image = binned(maps.scaled_mip, plot.bin, Binning::kMaximum);
  plot.height = maps.scaled_mip.height;
  plot.width = maps.scaled_mip.width;
  plot.first = context.template_size / 2;
  plot.pixel_size = context.pixel_size;
  plot.colours = viridis;
  // A particle is a few pixels: the scale reaches well above the threshold, not to the best z,
  // so that the background keeps its contrast.
  const auto [low, high] = percentiles(plot.image, 0.002, 1.0);
  plot.low = low;
  plot.high = std::max(low + 0.1, std::min(high, std::max(1.25 * context.cutoff, low + 1.0)));

  const bool scaled = context.metric == PeakMetric::kScaledMip;
  plot.title = plain_text(context.micrograph_name);
  plot.subtitle = "Scaled MIP";
  if (plot.bin > 1) {
    const std::string side = std::to_string(plot.bin);
    plot.subtitle += ", largest of each " + side + " x " + side + " pixels";
  }
  if (scaled) plot.subtitle += format("  ·  threshold z = %.2f (arrow)", context.cutoff);
  plot.x_label = "x of the particle's centre (pixels of the micrograph)";
  plot.y_label = "y of the particle's centre (pixels, downwards)";
  plot.bar = ColourBar{.label = high > plot.high ? "z (higher ones in the last colour)" : "z",
                       .colours = viridis,
                       .low = plot.low,
                       .high = plot.high};
  if (scaled) plot.bar->pointer = context.cutoff;
  plot.mark_radius = 0.015 * std::max(plot.height, plot.width);
  for (size_t i = 0; i < std::min(peaks.size(), kMostMarks); ++i) {
    plot.marks.push_back(
        {static_cast<double>(peaks[i].x), static_cast<double>(peaks[i].y), Colour{1, 1, 1, 1}});
  }
  return image_plot_png(plot);
}

}  // namespace

NamedFiles picture_paths(const std::string& beginning) {
  NamedFiles files;
  for (const std::string name : {"micrograph_peaks", "scaled_mip", "z_histogram"}) {
    files.emplace_back(name, beginning + name + ".png");
  }
  return files;
}

NamedFiles write_pictures(const std::string& beginning, const Image& micrograph, const Maps& maps,
                          const std::vector<Peak>& peaks, const PictureContext& context) {
  NamedFiles files = picture_paths(beginning);
  write_text_atomically(files[0].second, micrograph_picture(micrograph, peaks, context));
  write_text_atomically(files[1].second, scaled_mip_picture(maps, peaks, context));
  write_text_atomically(files[2].second, histogram_picture(maps, peaks, context));
  return files;
}

}  // namespace engine
