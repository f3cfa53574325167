// A white sheet to draw on, by Cairo; it becomes a PNG. Lengths are pixels, x to the right, y
// downwards from the top-left corner.
#pragma once

#include <cairo.h>

#include <memory>
#include <string>
#include <vector>

namespace scheduler::charts {

struct Colour {
  double red = 0, green = 0, blue = 0;
};
inline constexpr Colour kInk{0.1, 0.1, 0.1};
inline constexpr Colour kPale{0.85, 0.85, 0.85};

struct Box {
  double x = 0, y = 0, width = 0, height = 0;
};

enum class Side { kLeft, kCentre, kRight };  // the part of a text that lies at its point

struct Letters {
  double size = 13;
  Side side = Side::kLeft;
  bool bold = false;
};

// A name beside a patch of its colour.
struct Name {
  std::string text{};
  Colour colour{};
};
// Height in pixels of a legend of these names that is `width` pixels wide.
double legend_height(const std::vector<Name>& names, double width);

class Sheet {
 public:
  Sheet(int width, int height);

  void fill(const Box& box, const Colour& colour);
  void line(double x1, double y1, double x2, double y2, const Colour& colour, double width = 1);
  // `y` is the middle of the height of capitals.
  void text(double x, double y, const std::string& text, const Letters& letters = {});

  // Draws the names side by side if they fit on `box`, otherwise one below another.
  void legend(const Box& box, const std::vector<Name>& names);

  // The bytes of the PNG. Throws std::runtime_error when a drawing step has failed.
  std::string png();

 private:
  std::unique_ptr<cairo_surface_t, decltype(&cairo_surface_destroy)> surface_;
  std::unique_ptr<cairo_t, decltype(&cairo_destroy)> cairo_;
};

}  // namespace scheduler::charts
