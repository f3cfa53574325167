#include "engine/pictures/plots.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace engine {
namespace {

constexpr Colour kSoftInk = {0.35, 0.35, 0.35, 1};
constexpr double kTickSize = 14, kLabelSize = 16;
constexpr double kLeft = 92, kTop = 84, kRight = 36, kBarRoom = 112, kBottom = 104;
constexpr double kLongestSide = 1000;

// Pixel i of the unbinned image covers i to i + 1.
double at_pixel(double origin, double index, double scale) {
  return origin + (index + 0.5) * scale;
}

void draw_image_axes(Canvas& canvas, const Rect& area, const ImagePlot& plot) {
  const double first = plot.first - 0.5;
  draw_x_axis(canvas, area, first, first + plot.width, plot.x_label);
  const int count = std::max(2, static_cast<int>(area.height / 90));
  const std::vector<double> values = ticks(first, first + plot.height, count);
  const double step = nice_step(plot.height / static_cast<double>(count));
  for (const double value : values) {
    const double y = area.y + (value - first) / plot.height * area.height;
    canvas.line({{area.x - 6, y}, {area.x, y}}, kInk, 1.2);
    canvas.text({area.x - 10, y}, tick_text(value, step),
                {.size = kTickSize, .align = Align::kRight});
  }
  canvas.text({area.x - 72, area.y + 0.5 * area.height}, plot.y_label,
              {.size = kLabelSize, .align = Align::kCentre, .upwards = true});
}

void draw_scale_bar(Canvas& canvas, const Rect& area, const ImagePlot& plot, double scale) {
  const double nanometres_per_unit = plot.pixel_size / (10.0 * scale);
  const double length = nice_length(0.25 * area.width * nanometres_per_unit);
  const double y = area.bottom() + 76;
  const double end = area.x + length / nanometres_per_unit;
  canvas.fill({area.x, y - 4, end - area.x, 8}, kInk);
  canvas.text({end + 10, y}, tick_text(length, length) + " nm", {.size = kLabelSize});
}

void draw_colour_bar(Canvas& canvas, const Rect& where, const ColourBar& bar) {
  Image ramp(256, 1);
  for (int i = 0; i < ramp.height; ++i) ramp.at(i, 0) = static_cast<float>(255 - i);
  canvas.image(where, ramp, bar.colours, 0, 255);
  canvas.frame(where, kInk, 1.2);
  const auto y_of = [&](double value) {
    return where.bottom() - (value - bar.low) / (bar.high - bar.low) * where.height;
  };
  const int count = std::max(2, static_cast<int>(where.height / 90));
  const double step = nice_step((bar.high - bar.low) / count);
  for (const double value : ticks(bar.low, bar.high, count)) {
    canvas.line({{where.right(), y_of(value)}, {where.right() + 6, y_of(value)}}, kInk, 1.2);
    canvas.text({where.right() + 10, y_of(value)}, tick_text(value, step), {.size = kTickSize});
  }
  if (bar.pointer && *bar.pointer >= bar.low && *bar.pointer <= bar.high) {
    const double y = y_of(*bar.pointer);
    canvas.polygon({{where.x - 12, y - 6}, {where.x - 12, y + 6}, {where.x - 2, y}}, kInk);
  }
  canvas.text({where.right() + 58, where.y + 0.5 * where.height}, bar.label,
              {.size = kLabelSize, .align = Align::kCentre, .upwards = true});
}

// Places for the numbers beside the circles: inside the image, clear of each other and, where there
// is room, of other circles.
class NumberPlaces {
 public:
  NumberPlaces(const Rect& area, const std::vector<Point>& centres, double radius)
      : area_(area), centres_(centres), radius_(radius) {}

  std::optional<Point> find(Point centre, double width, double height) {
    constexpr size_t kCrowd = 60;
    for (const bool on_circles : {false, true}) {
      if (on_circles && centres_.size() > kCrowd)
        continue;                                          // better no number than an illegible one
      for (const int eighth : {1, 3, 5, 7, 0, 2, 4, 6}) {  // corners first
        const double right = std::cos(eighth * std::numbers::pi / 4);
        const double up = std::sin(eighth * std::numbers::pi / 4);
        const Point at = {centre.x + radius_ * right + (0.5 * width + 4) * side(right),
                          centre.y - radius_ * up - (0.5 * height + 3) * side(up)};
        const Rect box = {at.x - 0.5 * width, at.y - 0.5 * height, width, height};
        if (!free(box) || (!on_circles && on_a_circle(box))) continue;
        taken_.push_back(box);
        return at;
      }
    }
    return std::nullopt;
  }

 private:
  static double side(double direction) {
    return direction > 0.1 ? 1.0 : direction < -0.1 ? -1.0 : 0.0;
  }
  bool free(const Rect& box) const {
    return area_.holds(box) && std::none_of(taken_.begin(), taken_.end(),
                                            [&](const Rect& other) { return other.overlaps(box); });
  }
  bool on_a_circle(const Rect& box) const {
    return std::any_of(centres_.begin(), centres_.end(), [&](const Point& centre) {
      const double x = std::abs(box.x + 0.5 * box.width - centre.x);
      const double y = std::abs(box.y + 0.5 * box.height - centre.y);
      const double nearest =
          std::hypot(std::max(0.0, x - 0.5 * box.width), std::max(0.0, y - 0.5 * box.height));
      const double farthest = std::hypot(x + 0.5 * box.width, y + 0.5 * box.height);
      return nearest < radius_ && radius_ < farthest;
    });
  }

  const Rect& area_;
  const std::vector<Point>& centres_;
  double radius_;
  std::vector<Rect> taken_;
};

void draw_numbers(Canvas& canvas, const Rect& area, const std::vector<Mark>& marks,
                  const std::vector<Point>& centres, double radius) {
  constexpr size_t kMostNumbers = 200;
  NumberPlaces places(area, centres, radius);
  for (size_t i = 0; i < std::min(marks.size(), kMostNumbers); ++i) {
    const std::string number = std::to_string(i + 1);
    TextStyle style = {.size = 17, .align = Align::kCentre, .bold = true, .halo = true};
    style.colour = marks[i].colour;
    const double width = canvas.text_width(number, style) + 4;
    const auto at = places.find(centres[i], width, style.size);
    if (at) canvas.text(*at, number, style);
  }
}

void draw_marks(Canvas& canvas, const Rect& area, const ImagePlot& plot, double scale) {
  const double radius = std::max(6.0, plot.mark_radius * scale);
  std::vector<Point> centres;
  for (const Mark& mark : plot.marks) {
    centres.push_back({at_pixel(area.x, mark.x, scale), at_pixel(area.y, mark.y, scale)});
  }
  canvas.clip(area);
  for (const Point& centre : centres) canvas.circle(centre, radius, {0, 0, 0, 0.6}, 5);
  // The best last, on top.
  for (size_t i = centres.size(); i-- > 0;) {
    canvas.circle(centres[i], radius, plot.marks[i].colour, 2.5);
  }
  draw_numbers(canvas, area, plot.marks, centres, radius);
  canvas.unclip();
}

}  // namespace

void draw_titles(Canvas& canvas, double left, double width, const std::string& title,
                 const std::string& subtitle) {
  const TextStyle title_style = {.size = 21, .bold = true};
  const TextStyle subtitle_style = {.size = 15, .colour = kSoftInk};
  canvas.text({left, 28}, canvas.fitted(title, width, title_style), title_style);
  canvas.text({left, 58}, canvas.fitted(subtitle, width, subtitle_style), subtitle_style);
}

void draw_x_axis(Canvas& canvas, const Rect& area, double low, double high,
                 const std::string& label) {
  const int count = std::max(2, static_cast<int>(area.width / 90));
  const double step = nice_step((high - low) / count);
  for (const double value : ticks(low, high, count)) {
    const double x = area.x + (value - low) / (high - low) * area.width;
    canvas.line({{x, area.bottom()}, {x, area.bottom() + 6}}, kInk, 1.2);
    canvas.text({x, area.bottom() + 18}, tick_text(value, step),
                {.size = kTickSize, .align = Align::kCentre});
  }
  canvas.text({area.x + 0.5 * area.width, area.bottom() + 44}, label,
              {.size = kLabelSize, .align = Align::kCentre});
  canvas.frame(area, kInk, 1.2);
}

std::string image_plot_png(const ImagePlot& plot) {
  const double binned_side = std::max(plot.image.width, plot.image.height);
  const double longest = std::max(plot.width, plot.height);
  const double scale = std::max(binned_side * plot.bin / longest, kLongestSide / longest) /
                       (binned_side >= kLongestSide ? plot.bin : 1);
  const Rect area = {kLeft, kTop, plot.width * scale, plot.height * scale};
  const double bar_height = std::max(area.height, 200.0);
  const double width =
      std::max(640.0, std::ceil(area.right() + kRight + (plot.bar ? kBarRoom : 0.0)));
  Canvas canvas(width, std::ceil(kTop + bar_height + kBottom));
  draw_titles(canvas, 24, width - 48, plot.title, plot.subtitle);

  canvas.clip(area);
  canvas.image(
      {area.x, area.y, plot.image.width * plot.bin * scale, plot.image.height * plot.bin * scale},
      plot.image, plot.colours, plot.low, plot.high);
  canvas.unclip();
  draw_marks(canvas, area, plot, scale);
  draw_image_axes(canvas, area, plot);
  draw_scale_bar(canvas, area, plot, scale);
  if (plot.bar) draw_colour_bar(canvas, {area.right() + 36, area.y, 20, bar_height}, *plot.bar);
  return canvas.png();
}

}  // namespace engine
