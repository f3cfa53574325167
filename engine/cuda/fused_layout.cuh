// How the fused path's arrays lie in global memory: pure index arithmetic. Columns are counted in
// stored order (fft_order.cuh) everywhere, the rows of a tile's spectrum too; nothing is ever
// sorted. Columns come in chunks of Storage::kColumns that lie side by side.
#pragma once

#include <cstddef>
#include <cstdint>

namespace engine::cuda {

// How complex numbers lie in global memory, the columns that lie side by side, and the rows that a
// block works on at once: together they fill a sector of 32 bytes.
struct SingleStorage {
  using Element = float2;
  static constexpr int kColumns = 2;
  static constexpr int kRows = 2;
  __device__ static float2 widen(Element element) { return element; }
  __device__ static Element narrow(float2 value) { return value; }
};
// Two halves in a word; the arithmetic stays in single precision.
struct HalfStorage {
  using Element = uint32_t;
  static constexpr int kColumns = 2;
  static constexpr int kRows = 4;
  __device__ static float2 widen(Element element) { return unpack_halves(element); }
  __device__ static Element narrow(float2 value) { return pack_halves(value); }
};

// Rows of the exchange that lie side by side in every chunk.
constexpr int kChunkRows = 8;

// What all tiles of a search have in common.
struct FusedShape {
  int n = 0;        // of the template
  int columns = 0;  // of a tile, its transforms' length along a row
  int rows = 0;     // of a tile, their length along a column
  int tiles = 0;
  int valid_rows = 0;  // the most that a tile has
  int transforms = 0;  // that the exchanges have room for

  // Rows of the exchange, in whole chunks.
  __host__ __device__ int exchange_rows() const {
    return (valid_rows + kChunkRows - 1) / kChunkRows * kChunkRows;
  }

  // The template's rows, transformed: [transform][chunk][row][column in chunk].
  __host__ __device__ size_t template_size() const {
    return static_cast<size_t>(columns) * static_cast<size_t>(n);
  }
  // Where a chunk of a transform begins; its rows are kColumns apart.
  template <typename Storage>
  __host__ __device__ size_t template_chunk(int transform, int chunk) const {
    return static_cast<size_t>(transform) * template_size() +
           static_cast<size_t>(chunk) * static_cast<size_t>(n) * Storage::kColumns;
  }

  // The tiles' spectra: [tile][chunk][row in stored order][column in chunk].
  __host__ __device__ size_t spectrum_size() const {
    return static_cast<size_t>(columns) * static_cast<size_t>(rows);
  }
  template <typename Storage>
  __host__ __device__ size_t spectrum_chunk(int tile, int chunk) const {
    return static_cast<size_t>(tile) * spectrum_size() +
           static_cast<size_t>(chunk) * static_cast<size_t>(rows) * Storage::kColumns;
  }

  // What goes from the columns to the last rows:
  // [tile][transform][chunk of rows][chunk][row in chunk][column in chunk].
  __host__ __device__ size_t exchange_size() const {
    return static_cast<size_t>(columns) * static_cast<size_t>(exchange_rows());
  }
  __host__ __device__ size_t exchange_plane(int tile, int transform) const {
    return (static_cast<size_t>(tile) * static_cast<size_t>(transforms) +
            static_cast<size_t>(transform)) *
           exchange_size();
  }
  // Within a plane: the row's first column; and a chunk's distance from the next one.
  template <typename Storage>
  __host__ __device__ int exchange_row(int row) const {
    return row / kChunkRows * columns * kChunkRows + row % kChunkRows * Storage::kColumns;
  }
  template <typename Storage>
  __host__ __device__ static constexpr int exchange_column(int column) {
    return column / Storage::kColumns * (kChunkRows * Storage::kColumns) +
           column % Storage::kColumns;
  }
};

}  // namespace engine::cuda
