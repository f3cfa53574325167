// The parts that the pictures share: an image with axes, scale bar, colour bar and numbered peaks.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/pictures/canvas.h"

namespace engine {

// A peak on an image, in pixels of the unbinned image.
struct Mark {
  double x = 0, y = 0;
  Colour colour;
};

struct ColourBar {
  std::string label;
  Colour (*colours)(double) = grey;
  double low = 0, high = 1;
  std::optional<double> pointer = std::nullopt;  // a value that a pointer marks
};

struct ImagePlot {
  std::string title, subtitle, x_label, y_label;
  Image image;                // binned
  int bin = 1;                // pixels of the unbinned image per pixel of `image`
  int height = 0, width = 0;  // unbinned
  double first = 0;           // the axes' value at row and column 0
  double pixel_size = 1;      // A, unbinned
  Colour (*colours)(double) = grey;
  double low = 0, high = 1;
  std::optional<ColourBar> bar;
  std::vector<Mark> marks;  // best first, numbered from 1
  double mark_radius = 0;   // pixels of the unbinned image
};

// Returns the bytes of a PNG. Throws Error when a drawing step fails.
std::string image_plot_png(const ImagePlot& plot);

// Draws title and subtitle, shortened to fit `width`.
void draw_titles(Canvas& canvas, double left, double width, const std::string& title,
                 const std::string& subtitle);
// Draws ticks with their values under `area`, from `low` at its left edge to `high` at its right.
void draw_x_axis(Canvas& canvas, const Rect& area, double low, double high,
                 const std::string& label);

}  // namespace engine
