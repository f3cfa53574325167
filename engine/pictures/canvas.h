// A white canvas, drawn by Cairo and written as a PNG. Lengths are pixels of the PNG, x to the
// right and y downwards from the top-left corner.
#pragma once

#include <cairo.h>

#include <memory>
#include <string>
#include <vector>

#include "engine/io/image.h"
#include "engine/pictures/scales.h"

namespace engine {

struct Point {
  double x = 0, y = 0;
};

struct Rect {
  double x = 0, y = 0, width = 0, height = 0;

  double right() const { return x + width; }
  double bottom() const { return y + height; }
  bool overlaps(const Rect& other) const {
    return x < other.right() && other.x < right() && y < other.bottom() && other.y < bottom();
  }
  bool holds(const Rect& other) const {
    return x <= other.x && y <= other.y && other.right() <= right() && other.bottom() <= bottom();
  }
};

enum class Align { kLeft, kCentre, kRight };

struct TextStyle {
  double size = 14;
  Align align = Align::kLeft;
  bool bold = false;
  bool upwards = false;  // turned by 90 degrees, so that it reads upwards
  Colour colour = {0.1, 0.1, 0.1, 1};
  bool halo = false;  // dark edge, for light text on an image
};

class Canvas {
 public:
  Canvas(double width, double height);

  void fill(const Rect& rect, const Colour& colour);
  void frame(const Rect& rect, const Colour& colour, double line_width);
  void line(const std::vector<Point>& points, const Colour& colour, double line_width,
            bool dashed = false);
  void polygon(const std::vector<Point>& points, const Colour& colour);
  void circle(Point centre, double radius, const Colour& colour, double line_width);
  // `at` is the middle of the text's height, and horizontally its left, centre or right (`align`).
  void text(Point at, const std::string& text, const TextStyle& style);
  double text_width(const std::string& text, const TextStyle& style);
  // Returns `text`, shortened in the middle where it is wider than `width`.
  std::string fitted(const std::string& text, double width, const TextStyle& style);
  // Draws one colour per pixel, stretched over `where`. `colours` gets values scaled so that `low`
  // is 0 and `high` is 1.
  void image(const Rect& where, const Image& pixels, Colour (*colours)(double), double low,
             double high);
  void clip(const Rect& rect);
  void unclip();

  // Returns the bytes of the PNG. Throws Error when a drawing step has failed.
  std::string png();

 private:
  using Surface = std::unique_ptr<cairo_surface_t, decltype(&cairo_surface_destroy)>;

  const Surface surface_;
  const std::unique_ptr<cairo_t, decltype(&cairo_destroy)> owner_;
  cairo_t* const context_ = owner_.get();
};

}  // namespace engine
