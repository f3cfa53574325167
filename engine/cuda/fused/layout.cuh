// The layout of the fused path's arrays in global memory. Pure index arithmetic. All columns, and
// the rows of a tile's spectrum, are counted in stored order (fft_order.cuh), so that nothing is
// ever reordered. Columns come in chunks of Storage::kColumns adjacent ones.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/cuda/fused/half_points.cuh"
#include "engine/cuda/fused_tuning.h"

namespace engine::cuda {

// A Storage defines how complex numbers are stored in global memory (Element) and how a thread
// computes with them (Point). A Point holds kLanes lines at once: neighbouring columns, or rows
// that one thread of a column has (FusedShape::row). A block works on kColumns columns, or on
// kLines lines of rows, at once.
struct SingleStorage {
  using Element = float2;
  using Point = float2;
  using Root = float2;
  static constexpr int kNumberBytes = 8;  // of a complex number in memory
  static constexpr int kLanes = 1;
  static constexpr int kColumns = StorageTuning<SingleStorage>::kColumns;
  static constexpr int kLines = StorageTuning<SingleStorage>::kLines;
  __device__ static Point widen(Element element) { return element; }
  __device__ static Element narrow(Point value) { return value; }
  __device__ static Point point_of(const float2 (&lanes)[1]) { return lanes[0]; }
};
// fp16 in memory and in the arithmetic, except for the last level before the statistics.
struct HalfArithmetic {
  using Element = uint2;  // a Point
  using Point = HalfPoint;
  using Root = HalfRoot;
  static constexpr int kNumberBytes = 4;
  static constexpr int kLanes = 2;
  static constexpr int kColumns = StorageTuning<HalfArithmetic>::kColumns;
  static constexpr int kLines = StorageTuning<HalfArithmetic>::kLines;
  __device__ static Point widen(Element element) { return {{element.x}, {element.y}}; }
  __device__ static Element narrow(Point value) { return make_uint2(value.x.bits, value.y.bits); }
  __device__ static Point point_of(const float2 (&lanes)[2]) {
    return narrowed(lanes[0], lanes[1]);
  }
};

// The sizes that all tiles of a search have in common.
struct FusedShape {
  int n = 0;        // side of the template
  int columns = 0;  // of a tile: the length of its transforms along a row
  int rows = 0;     // of a tile: the length of its transforms along a column
  int tiles = 0;
  int valid_rows = 0;  // the most that a tile has
  int transforms = 0;  // the most for which the exchange has room
  int lane_step = 0;   // rows from one lane of a line to the next

  // Returns the row in a lane of a line of kLanes rows. The two rows of a line are as far apart as
  // two points of one thread in the first stage of a column, so that the thread of a column has
  // both.
  template <typename Storage>
  __host__ __device__ int row(int line, int lane) const {
    if constexpr (Storage::kLanes == 1) return line;
    return line + line / lane_step * lane_step + lane * lane_step;
  }
  // Returns the number of lines that hold the first `count` rows.
  template <typename Storage>
  __host__ __device__ int lines(int count) const {
    if constexpr (Storage::kLanes == 1) return count;
    const int rest = count % (2 * lane_step);
    return count / (2 * lane_step) * lane_step + (rest < lane_step ? rest : lane_step);
  }
  // Returns how many lanes of a line are among the first `count` rows.
  template <typename Storage>
  __host__ __device__ int lanes_below(int line, int count) const {
    const int first = row<Storage>(line, 0);
    if constexpr (Storage::kLanes == 1) return first < count ? 1 : 0;
    return first + lane_step < count ? 2 : first < count ? 1 : 0;
  }
  // Returns the number of lines of the exchange, in whole chunks.
  template <typename Storage>
  __host__ __device__ int exchange_lines() const {
    return (lines<Storage>(valid_rows) + kChunkLines - 1) / kChunkLines * kChunkLines;
  }

  // All sizes and places below are in Elements. The template's transformed rows:
  // [transform][chunk][line][column in chunk].
  template <typename Storage>
  __host__ __device__ size_t template_size() const {
    return static_cast<size_t>(columns) * static_cast<size_t>(lines<Storage>(n));
  }
  template <typename Storage>
  __host__ __device__ size_t template_place(int transform, int line, int column) const {
    return static_cast<size_t>(transform) * template_size<Storage>() +
           static_cast<size_t>(column / Storage::kColumns * lines<Storage>(n) + line) *
               Storage::kColumns +
           static_cast<size_t>(column % Storage::kColumns);
  }

  // The tiles' spectra: [tile][chunk][row in stored order][column in chunk], kLanes columns in an
  // Element.
  template <typename Storage>
  __host__ __device__ size_t spectrum_size() const {
    return static_cast<size_t>(columns) * static_cast<size_t>(rows) / Storage::kLanes;
  }
  template <typename Storage>
  __host__ __device__ size_t spectrum_chunk(int chunk) const {
    return static_cast<size_t>(chunk) * static_cast<size_t>(rows) * Storage::kColumns /
           Storage::kLanes;
  }

  // The exchange, from the columns to the last rows:
  // [tile][transform][chunk of lines][chunk][line in chunk][column in chunk].
  template <typename Storage>
  __host__ __device__ size_t exchange_size() const {
    return static_cast<size_t>(columns) * static_cast<size_t>(exchange_lines<Storage>());
  }
  template <typename Storage>
  __host__ __device__ size_t exchange_tile() const {
    return static_cast<size_t>(transforms) * exchange_size<Storage>();
  }
  template <typename Storage>
  __host__ __device__ size_t exchange_place(int tile, int transform, int line, int column) const {
    return static_cast<size_t>(tile) * exchange_tile<Storage>() +
           static_cast<size_t>(transform) * exchange_size<Storage>() +
           static_cast<size_t>(line / kChunkLines * columns +
                               column / Storage::kColumns * Storage::kColumns) *
               kChunkLines +
           static_cast<size_t>(line % kChunkLines * Storage::kColumns + column % Storage::kColumns);
  }
};

}  // namespace engine::cuda
