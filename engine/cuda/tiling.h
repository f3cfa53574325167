// Cuts the valid region of a micrograph into overlap-save tiles, so that a few compiled transform
// lengths serve every image and template. Pure functions.
//
// A tile takes `length` pixels of the image along each axis, with zeros beyond the image's border.
// Its circular correlation with a template of n pixels is right at its first length - n + 1
// positions; of these, only its part of the valid region is used.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace engine::cuda {

// Positions first ... first + count - 1 along one axis of the valid region; the tile's pixels begin
// at `first` too.
struct AxisPart {
  int first = 0;
  int count = 0;
};

struct AxisTiling {
  int length = 0;  // of the transform, pixels
  std::vector<AxisPart> parts;

  int largest_part() const;
};

// A tile's part of the valid region.
struct TilePlace {
  int row = 0, column = 0;  // its first pixel
  int rows = 0, columns = 0;
};

struct Tiling {
  AxisTiling rows;     // the vertical axis
  AxisTiling columns;  // the horizontal axis
  // Returns the tiles, row by row.
  std::vector<TilePlace> places() const;
};

// Returns the cheapest tiling of an axis of `extent` pixels for a template of n pixels, with one of
// `lengths`; nullopt when all of them are shorter than n. The parts' sizes differ by one at most.
std::optional<AxisTiling> tile_axis(int extent, int n, std::span<const int> lengths);

// Tiles both axes, each with its own length; nullopt as for tile_axis().
std::optional<Tiling> tile_image(int height, int width, int n, std::span<const int> lengths);

}  // namespace engine::cuda
