#include "engine/pictures/canvas.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "engine/error.h"

namespace engine {
namespace {

void check(cairo_status_t status) {
  if (status != CAIRO_STATUS_SUCCESS) {
    throw Error(ExitCode::kBadInput,
                std::string("cannot draw a picture: ") + cairo_status_to_string(status));
  }
}

cairo_status_t append(void* text, const unsigned char* data, unsigned int size) {
  static_cast<std::string*>(text)->append(reinterpret_cast<const char*>(data), size);
  return CAIRO_STATUS_SUCCESS;
}

uint32_t packed(const Colour& colour) {
  const auto byte = [](double value) {
    return static_cast<uint32_t>(std::lround(std::clamp(value, 0.0, 1.0) * 255.0));
  };
  return byte(colour.red) << 16 | byte(colour.green) << 8 | byte(colour.blue);
}

void set_colour(cairo_t* context, const Colour& colour) {
  cairo_set_source_rgba(context, colour.red, colour.green, colour.blue, colour.alpha);
}

void set_path(cairo_t* context, const std::vector<Point>& points) {
  cairo_new_path(context);
  for (const Point& point : points) cairo_line_to(context, point.x, point.y);
}

void set_font(cairo_t* context, const TextStyle& style) {
  cairo_select_font_face(context, "DejaVu Sans", CAIRO_FONT_SLANT_NORMAL,
                         style.bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
  cairo_set_font_size(context, style.size);
}

}  // namespace

Canvas::Canvas(double width, double height)
    : surface_(cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(width),
                                          static_cast<int>(height)),
               cairo_surface_destroy),
      owner_(cairo_create(surface_.get()), cairo_destroy) {
  check(cairo_status(context_));  // the surface's, where that has failed
  cairo_set_source_rgb(context_, 1, 1, 1);
  cairo_paint(context_);
}

void Canvas::fill(const Rect& rect, const Colour& colour) {
  set_colour(context_, colour);
  cairo_rectangle(context_, rect.x, rect.y, rect.width, rect.height);
  cairo_fill(context_);
}

void Canvas::frame(const Rect& rect, const Colour& colour, double line_width) {
  set_colour(context_, colour);
  cairo_set_line_width(context_, line_width);
  cairo_rectangle(context_, rect.x, rect.y, rect.width, rect.height);
  cairo_stroke(context_);
}

void Canvas::line(const std::vector<Point>& points, const Colour& colour, double line_width,
                  bool dashed) {
  set_colour(context_, colour);
  cairo_set_line_width(context_, line_width);
  cairo_set_line_join(context_, CAIRO_LINE_JOIN_ROUND);
  const double dashes[] = {7, 5};
  if (dashed) cairo_set_dash(context_, dashes, 2, 0);
  set_path(context_, points);
  cairo_stroke(context_);
  cairo_set_dash(context_, nullptr, 0, 0);
}

void Canvas::polygon(const std::vector<Point>& points, const Colour& colour) {
  set_colour(context_, colour);
  set_path(context_, points);
  cairo_fill(context_);
}

void Canvas::circle(Point centre, double radius, const Colour& colour, double line_width) {
  set_colour(context_, colour);
  cairo_set_line_width(context_, line_width);
  cairo_new_path(context_);
  cairo_arc(context_, centre.x, centre.y, radius, 0, 2 * std::numbers::pi);
  cairo_stroke(context_);
}

void Canvas::text(Point at, const std::string& text, const TextStyle& style) {
  const double width = text_width(text, style);
  const double shift = style.align == Align::kLeft     ? 0.0
                       : style.align == Align::kCentre ? -0.5 * width
                                                       : -width;
  cairo_save(context_);
  cairo_translate(context_, at.x, at.y);
  if (style.upwards) cairo_rotate(context_, -0.5 * std::numbers::pi);
  set_font(context_, style);
  constexpr double kHalfCapital = 0.36;  // of the font's size
  cairo_move_to(context_, shift, kHalfCapital * style.size);
  if (style.halo) {
    cairo_text_path(context_, text.c_str());
    cairo_set_source_rgba(context_, 0, 0, 0, 0.85);
    cairo_set_line_width(context_, 4);
    cairo_set_line_join(context_, CAIRO_LINE_JOIN_ROUND);
    cairo_stroke_preserve(context_);
    set_colour(context_, style.colour);
    cairo_fill(context_);
  } else {
    set_colour(context_, style.colour);
    cairo_show_text(context_, text.c_str());
  }
  cairo_restore(context_);
}

double Canvas::text_width(const std::string& text, const TextStyle& style) {
  cairo_save(context_);
  set_font(context_, style);
  cairo_text_extents_t extents;
  cairo_text_extents(context_, text.c_str(), &extents);
  cairo_restore(context_);
  return extents.x_advance;
}

std::string Canvas::fitted(const std::string& text, double width, const TextStyle& style) {
  std::string result = text;
  size_t count = character_count(text);
  while (count > 1 && text_width(result, style) > width) {
    // A name of thousands of characters is not shortened one by one.
    count = std::min(count - 1, static_cast<size_t>(static_cast<double>(count) * 1.1 * width /
                                                    text_width(result, style)));
    result = elided_text(text, std::max<size_t>(count, 1));
  }
  return result;
}

void Canvas::image(const Rect& where, const Image& pixels, Colour (*colours)(double), double low,
                   double high) {
  const double scale = high > low ? 1.0 / (high - low) : 0.0;
  std::vector<uint32_t> packed_pixels;
  packed_pixels.reserve(pixels.pixels.size());
  for (const float value : pixels.pixels) {
    const double position = scale > 0 ? (value - low) * scale : 0.5;
    packed_pixels.push_back(packed(colours(std::isfinite(position) ? position : 0.0)));
  }
  const Surface surface(cairo_image_surface_create_for_data(
                            reinterpret_cast<unsigned char*>(packed_pixels.data()),
                            CAIRO_FORMAT_RGB24, pixels.width, pixels.height, 4 * pixels.width),
                        cairo_surface_destroy);
  check(cairo_surface_status(surface.get()));
  clip(where);
  cairo_translate(context_, where.x, where.y);
  cairo_scale(context_, where.width / pixels.width, where.height / pixels.height);
  cairo_set_source_surface(context_, surface.get(), 0, 0);
  // Otherwise the border would fade into the white around it.
  cairo_pattern_set_extend(cairo_get_source(context_), CAIRO_EXTEND_PAD);
  cairo_pattern_set_filter(cairo_get_source(context_), CAIRO_FILTER_GOOD);
  cairo_paint(context_);
  unclip();
  cairo_surface_finish(surface.get());
}

void Canvas::clip(const Rect& rect) {
  cairo_save(context_);
  cairo_rectangle(context_, rect.x, rect.y, rect.width, rect.height);
  cairo_clip(context_);
}

void Canvas::unclip() { cairo_restore(context_); }

std::string Canvas::png() {
  check(cairo_status(context_));
  cairo_surface_flush(surface_.get());
  std::string bytes;
  check(cairo_surface_write_to_png_stream(surface_.get(), append, &bytes));
  return bytes;
}

}  // namespace engine
