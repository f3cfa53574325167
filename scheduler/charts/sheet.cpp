#include "scheduler/charts/sheet.h"

#include <stdexcept>

namespace scheduler::charts {
namespace {

void check(cairo_status_t status) {
  if (status == CAIRO_STATUS_SUCCESS) return;
  throw std::runtime_error(std::string("cannot draw a picture: ") + cairo_status_to_string(status));
}

cairo_status_t append(void* bytes, const unsigned char* data, unsigned int size) {
  static_cast<std::string*>(bytes)->append(reinterpret_cast<const char*>(data), size);
  return CAIRO_STATUS_SUCCESS;
}

constexpr double kPatch = 14;
constexpr double kLegendLine = 22;

// Wide enough for its letters, whatever these are.
double width_of(const Name& name) { return 48 + 8.2 * static_cast<double>(name.text.size()); }

bool has_one_line(const std::vector<Name>& names, double width) {
  double taken = 0;
  for (const Name& name : names) taken += width_of(name);
  return taken <= width;
}

void set_colour(cairo_t* cairo, const Colour& colour) {
  cairo_set_source_rgb(cairo, colour.red, colour.green, colour.blue);
}

}  // namespace

double legend_height(const std::vector<Name>& names, double width) {
  return kLegendLine * (has_one_line(names, width) ? 1 : static_cast<double>(names.size()));
}

Sheet::Sheet(int width, int height)
    : surface_(cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height),
               cairo_surface_destroy),
      cairo_(cairo_create(surface_.get()), cairo_destroy) {
  check(cairo_status(cairo_.get()));  // also that of the surface
  set_colour(cairo_.get(), {1, 1, 1});
  cairo_paint(cairo_.get());
  // Bars beside each other meet without a seam.
  cairo_set_antialias(cairo_.get(), CAIRO_ANTIALIAS_NONE);
}

void Sheet::fill(const Box& box, const Colour& colour) {
  set_colour(cairo_.get(), colour);
  cairo_rectangle(cairo_.get(), box.x, box.y, box.width, box.height);
  cairo_fill(cairo_.get());
}

void Sheet::line(double x1, double y1, double x2, double y2, const Colour& colour, double width) {
  set_colour(cairo_.get(), colour);
  cairo_set_line_width(cairo_.get(), width);
  cairo_move_to(cairo_.get(), x1, y1);
  cairo_line_to(cairo_.get(), x2, y2);
  cairo_stroke(cairo_.get());
}

void Sheet::text(double x, double y, const std::string& text, const Letters& letters) {
  constexpr double kHalfCapital = 0.36;  // of the letters' size
  cairo_select_font_face(cairo_.get(), "DejaVu Sans", CAIRO_FONT_SLANT_NORMAL,
                         letters.bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
  cairo_set_font_size(cairo_.get(), letters.size);
  cairo_text_extents_t extents;
  cairo_text_extents(cairo_.get(), text.c_str(), &extents);
  double left = x;
  if (letters.side == Side::kCentre) left -= extents.x_advance / 2;
  if (letters.side == Side::kRight) left -= extents.x_advance;
  set_colour(cairo_.get(), kInk);
  cairo_move_to(cairo_.get(), left, y + kHalfCapital * letters.size);
  cairo_show_text(cairo_.get(), text.c_str());
}

void Sheet::legend(const Box& box, const std::vector<Name>& names) {
  const bool one_line = has_one_line(names, box.width);
  double x = box.x;
  double y = box.y;
  for (const Name& name : names) {
    fill({x, y, kPatch, kPatch}, name.colour);
    text(x + kPatch + 6, y + kPatch / 2, name.text);
    if (one_line) {
      x += width_of(name);
    } else {
      y += kLegendLine;
    }
  }
}

std::string Sheet::png() {
  check(cairo_status(cairo_.get()));
  cairo_surface_flush(surface_.get());
  std::string bytes;
  check(cairo_surface_write_to_png_stream(surface_.get(), append, &bytes));
  return bytes;
}

}  // namespace scheduler::charts
