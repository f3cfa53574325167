// The fused path's arrays in memory. Lines are handled in blocks of as many as a vector has lanes;
// a point of such a block is one vector of real parts and one of imaginary parts. Sizes whose unit
// is not given are in points or pixels.
#pragma once

#include <algorithm>
#include <cstddef>

#include "engine/backend/backend.h"
#include "engine/cpu/fused/kernels.h"
#include "engine/cpu/fused/lengths.h"

namespace engine::cpu::fused {

struct Layout {
  // Uses the kernels that choose_kernels() returns.
  explicit Layout(const ProblemShape& s)
      : lanes(choose_kernels().lanes),
        size(static_cast<size_t>(s.template_size)),
        height(static_cast<size_t>(padded_length(s.height, 2))),
        width(static_cast<size_t>(padded_length(s.width, kTile))),
        valid_height(static_cast<size_t>(s.height) - size + 1),
        valid_width(static_cast<size_t>(s.width) - size + 1) {}

  size_t lanes;
  size_t size;           // of the template
  size_t height, width;  // of the transforms
  size_t valid_height, valid_width;

  size_t point() const { return 2 * lanes; }  // floats
  size_t column_blocks() const { return width / lanes; }
  size_t row_blocks() const { return (valid_height + lanes - 1) / lanes; }

  // The template's transformed rows, per transform: [column block][template row][column]. One extra
  // point per block keeps the blocks out of each other's cache sets.
  size_t template_block() const { return (size + 1) * point(); }
  size_t template_floats() const { return column_blocks() * template_block(); }

  // The exchange between columns and rows, per transform: [row block][column block][row][column],
  // with one extra tile per row block for the same reason.
  size_t tile() const { return lanes * point(); }
  size_t exchange_row_block() const { return (column_blocks() + 1) * tile(); }
  size_t exchange_floats() const { return row_blocks() * exchange_row_block(); }

  // True where an array of so many floats exceeds 4 MB, more than a second cache holds. The third
  // is left to other data.
  static bool past_cache(size_t floats) { return floats * sizeof(float) > (size_t{4} << 20); }

  // The image's spectrum: [column block][row][column], both in the order of Line::frequencies.
  size_t image_block() const { return height * point(); }
  size_t image_floats() const { return column_blocks() * image_block(); }

  // Each of the statistics: [row block][column][row].
  size_t map_block() const { return valid_width * lanes; }
  size_t map_values() const { return row_blocks() * map_block(); }

  // A thread's working memory: a block of lines between its passes, and the kernels' scratch.
  size_t working_floats() const {
    // A line has at most 16 parts, each with one extra point (Line::working()).
    const size_t line = std::max(height, width) + 16;
    return (line + std::max(kScratchPoints, size + kTile)) * point();
  }
};

}  // namespace engine::cpu::fused
