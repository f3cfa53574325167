// The parameters of the fused path's kernels, which work on blocks of as many lines as a vector has
// lanes. A point of such a block is a vector of real parts followed by a vector of imaginary parts.
#pragma once

#include <cstddef>
#include <cstdint>

namespace engine::cpu::fused {

// A projection of `size` x `size` pixels p, of which p x factor + offset is wanted; where
// `mirrored`, that of p(-y, -x). Without pixels it is zeros.
struct ScaledProjection {
  const float* pixels;
  bool mirrored;
  float factor, offset;
};

// Rows of one transform's two projections. They are transformed as first + i second, padded with
// zeros at their ends.
struct TemplateRows {
  ScaledProjection first, second;
  size_t size;
  size_t row;       // the first of these rows, as they are counted after mirroring
  size_t rows;      // at most the number of lanes; lanes without a row are zero
  float* out;       // the first row of the first tile of columns: points of `lanes` columns
  size_t tiles;     // floats from one tile of columns to the next
  bool past_cache;  // true: the output does not fit the caches, and is written past them
};

// Columns: they are transformed forward, their conjugate is multiplied by the image's spectrum, and
// the product is transformed back.
struct Columns {
  const float* rows;  // `count` points, zeros behind them
  const float* next;  // those of the thread's next call, fetched meanwhile; null: not known
  size_t count;
  const float* image;  // a point for each position of the line
  float* out;          // rows 0 .. lanes-1 of this tile of columns
  size_t row_blocks;   // floats from one block of `lanes` rows to the next
  size_t wanted;       // rows to write
  bool past_cache;     // as in TemplateRows
};

// The most transforms in a group. Its sums have 32 bits, enough for 128 times what one transform
// adds.
constexpr size_t kMostTransforms = 16;

// Indices of the two correlations, as for accumulate() of engine/cpu/kernels.h.
struct Indices {
  int32_t first;
  int32_t second;  // -1: there is none
};

// Statistics of `lanes` rows: `lanes` values for each point. `best` and `index` hold the largest
// value and its index, of equal values the lower index.
struct Statistics {
  float* best;
  int32_t* index;
  int64_t* sum;
  int64_t* squares;
};

// Rows at the end: `lanes` of them are transformed back, and their first `wanted` points are
// correlations.
struct Rows {
  const float* in;    // tiles of lanes x lanes points, one row behind another
  const float* next;  // as in Columns
  Indices indices;
  size_t wanted;
  // Sums over a group of transforms: for each point `lanes` sums, then `lanes` sums of squares.
  int32_t* sums;
  Statistics statistics;
};

// A pixel whose sums have left their range.
struct OutOfRange {
  int64_t column = -1;  // -1: there is none
  int lane = 0;
};

// A projection of n x n pixels from a half-plane of n x (n/2+1) values, real and imaginary parts in
// turn.
struct Projection {
  const float* slice;
  const float* filter;   // multiplies the slice
  size_t size;           // n
  const size_t* points;  // for each frequency, its point of working memory after a transform
  float* between;        // projection_floats() of them
  float* out;            // n x n, the origin at pixel (n/2, n/2)
  // For each row of pixels, before the origin is moved, the sum of its squares; whole vectors of
  // them.
  float* squares;
};

// Points from one block of `lanes` rows to the next between the two directions of a projection.
constexpr size_t projection_row_points(size_t n, size_t lanes) {
  return (n / 2 + lanes) / lanes * lanes;
}
constexpr size_t projection_floats(size_t n, size_t lanes) {
  return (n + lanes - 1) / lanes * projection_row_points(n, lanes) * 2 * lanes;
}

// Points of working memory that rows need beside Line::working().
constexpr size_t kScratchPoints = 16 * 16;

}  // namespace engine::cpu::fused
