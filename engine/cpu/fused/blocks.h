// What the kernels of the fused path are given: blocks of as many lines as a vector has lanes. A
// point of such a block is one vector of real parts, and behind it one of imaginary parts.
#pragma once

#include <cstddef>
#include <cstdint>

namespace engine::cpu::fused {

// Rows of one transform's two projections, `size` real points each; `second` null: there is none.
// They are transformed as first - i second, the rows' ends padded with zeros.
struct TemplateRows {
  const float* first;
  const float* second;
  size_t size;   // of a row, and how far apart rows are
  size_t rows;   // up to as many as lanes; the others are zero
  float* out;    // the first row of the first tile of columns: points of `lanes` columns
  size_t tiles;  // from one tile of columns to the next, floats
};

// Columns: forward transform of the template's rows, product of its conjugate with the image's
// spectrum, inverse transform.
struct Columns {
  const float* rows;  // `count` points, zeros behind them
  size_t count;
  const float* image;  // a point for each position of the line
  float* out;          // rows 0 .. lanes-1 of this tile of columns
  size_t row_blocks;   // from `lanes` rows to the next ones, floats
  size_t wanted;       // rows to write
  bool past_cache;     // too much is written for the caches to be of use
};

// Of a group, whose sums have 32 bits: enough for 128 times what one transform adds.
constexpr size_t kMostTransforms = 8;

// Indices of the two correlations, as accumulate (engine/cpu/kernels.h) has them.
struct Indices {
  int32_t first;
  int32_t second;  // -1: there is none
};

// Statistics of `lanes` rows: as many values for each point. `best` and `index` order by value,
// then by the lower index.
struct Statistics {
  float* best;
  int32_t* index;
  int64_t* sum;
  int64_t* squares;
};

// Last rows: inverse transform of `lanes` rows, of which the first `wanted` points are
// correlations.
struct Rows {
  const float* in;  // tiles of lanes x lanes points, one row behind another
  Indices indices;
  size_t wanted;
  // Of a group of transforms: for each point `lanes` sums, and behind them `lanes` sums of squares.
  int32_t* sums;
  Statistics statistics;
};

// A pixel whose sums leave their range.
struct OutOfRange {
  int64_t column = -1;  // -1: there is none
  int lane = 0;
};

// Points of working memory beside Line::working().
constexpr size_t kScratchPoints = 16 * 16;

}  // namespace engine::cpu::fused
