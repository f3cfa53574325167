// The grid on which a search runs when its frequencies are cropped to its resolution limit
// (docs/numerics.md, Fourier cropping). Pure functions.
#pragma once

#include <optional>

#include "engine/config/config.h"
#include "engine/numerics/ctf.h"
#include "engine/numerics/maps.h"

namespace engine {

// Sides in pixels. The search's pixels are `of / to` times as large as the micrograph's.
struct SearchGrid {
  int height = 0, width = 0, template_size = 0;  // of the search
  // The micrograph's sides, with zeros at their ends, of which the search's are a whole number of
  // pixels.
  int padded_height = 0, padded_width = 0;
  int to = 1, of = 1;  // without a common factor

  // Returns the pixel of the search that is nearest to one of the micrograph, along one axis.
  int nearest(int pixel) const { return (2 * pixel * to + of) / (2 * of); }
  // The reverse. nearest(pixel_of(i)) is i.
  int pixel_of(int of_search) const { return (2 * of_search * of + to) / (2 * to); }
  // Returns how many of the search's pixels have a pixel_of() among the first `pixels`.
  int pixels_within(int pixels) const {
    const int last = nearest(pixels - 1);
    return pixel_of(last) < pixels ? last + 1 : last;
  }
};

// Returns the grid of `to` pixels in the place of `of`, which have no common factor; the sides of
// the template are not set.
SearchGrid grid_of_sides(int height, int width, int to, int of);

// Returns the highest frequency that the bandpass lets pass, in cycles per pixel; nullopt where
// that is all that the pixels hold, 0.5 or more.
std::optional<double> resolution_limit(const BandpassFilter& bandpass);

// Returns the cheapest grid that holds all frequencies up to `limit` (cycles per pixel) for a
// micrograph and a template of these sides, all even; nullopt where none saves a tenth of the
// pixels. `magnification` maps the frequencies of the image to those of the template.
std::optional<SearchGrid> choose_search_grid(int height, int width, int template_size, double limit,
                                             const FrequencyTransform& magnification = {});

// Returns the grid of a search as it follows from its configuration; nullopt: the micrograph's own.
std::optional<SearchGrid> search_grid_of(const SearchConfig& config, int height, int width,
                                         int template_size);

// Returns the grid of a part of a micrograph of these sides, on which the error of `grid` can be
// measured in seconds: a box of the template's at least, no larger than the micrograph, and nothing
// padded. Its padded sides are the part's.
SearchGrid grid_of_sample(const SearchGrid& grid, int height, int width);

// Returns maps of height x width pixels of the micrograph: each takes the values of the search's
// nearest pixel.
Maps on_micrograph(const Maps& maps, const SearchGrid& grid, int height, int width);

// Returns the maps at the search's pixels from those that on_micrograph() has returned. Pixels of
// the search beyond the last one of the micrograph are not among them.
Maps on_search_grid(const Maps& maps, const SearchGrid& grid);

}  // namespace engine
