// How the valid region of a micrograph is cut into overlap-save tiles, so that a few compiled
// lengths of transform serve every image and template. Pure.
//
// A tile takes `length` pixels of the image along each axis, zeros beyond its border. Correlating
// it circularly with a template of n pixels is right for its first length - n + 1 positions; of
// these it answers for its part of the valid region.
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
  int length = 0;  // of the transform
  std::vector<AxisPart> parts;

  int largest_part() const;
};

// A tile's part of the valid region.
struct TilePlace {
  int row = 0, column = 0;  // of its first pixel
  int rows = 0, columns = 0;
};

struct Tiling {
  AxisTiling rows;     // down the columns
  AxisTiling columns;  // along the rows
  // Row by row.
  std::vector<TilePlace> places() const;
};

// The cheapest tiling of an axis of `extent` pixels for a template of n, with one of `lengths`;
// nothing when all are shorter than n. Parts are as even as whole pixels allow.
std::optional<AxisTiling> tile_axis(int extent, int n, std::span<const int> lengths);

// Both axes, each with its own length.
std::optional<Tiling> tile_image(int height, int width, int n, std::span<const int> lengths);

}  // namespace engine::cuda
