#include "engine/cuda/tiling.h"

#include <algorithm>
#include <cmath>

namespace engine::cuda {
namespace {

int parts_needed(int positions, int n, int length) {
  const int valid = length - n + 1;
  return (positions + valid - 1) / valid;
}

// The cost of transforming a point with this length, in any unit. From 3072 on so few blocks fit on
// a multiprocessor that they wait for each other: at 4096 points by 1.37 on an H200; by how much at
// 3072 is a guess.
double cost_of_point(int length) {
  const double crowding = length > 3072 ? 1.35 : length > 2304 ? 1.15 : 1.0;
  return std::log2(length) * crowding;
}

AxisTiling cut(int positions, int n, int length) {
  const int count = parts_needed(positions, n, length);
  AxisTiling axis{.length = length, .parts = {}};
  int first = 0;
  for (int k = 0; k < count; ++k) {
    const int size = positions / count + (k < positions % count ? 1 : 0);
    axis.parts.push_back({first, size});
    first += size;
  }
  return axis;
}

}  // namespace

int AxisTiling::largest_part() const {
  int largest = 0;
  for (const AxisPart& part : parts) largest = std::max(largest, part.count);
  return largest;
}

std::vector<TilePlace> Tiling::places() const {
  std::vector<TilePlace> places;
  for (const AxisPart& down : rows.parts) {
    for (const AxisPart& along : columns.parts) {
      places.push_back({down.first, along.first, down.count, along.count});
    }
  }
  return places;
}

std::optional<AxisTiling> tile_axis(int extent, int n, std::span<const int> lengths) {
  const int positions = extent - n + 1;
  int best = 0;
  double best_cost = 0;
  for (const int length : lengths) {
    if (length < n) continue;
    const double cost =
        static_cast<double>(parts_needed(positions, n, length)) * length * cost_of_point(length);
    if (best == 0 || cost < best_cost) {
      best = length;
      best_cost = cost;
    }
  }
  if (best == 0) return std::nullopt;
  return cut(positions, n, best);
}

std::optional<Tiling> tile_image(int height, int width, int n, std::span<const int> lengths) {
  const auto rows = tile_axis(height, n, lengths);
  const auto columns = tile_axis(width, n, lengths);
  if (!rows || !columns) return std::nullopt;
  return Tiling{*rows, *columns};
}

}  // namespace engine::cuda
