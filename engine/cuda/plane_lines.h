// Which lines a pass of the whole-plane correlator transforms. Pure.
#pragma once

#include "engine/backend/backend.h"
#include "engine/cuda/device_concept.h"

namespace engine::cuda {

// A pass lies [row][transform][column]: so the rows of the template, the columns, and the rows that
// the map keeps are one plan each.
struct PlaneLines {
  Lines template_rows, columns, valid_rows;
};

inline PlaneLines plane_lines(const ProblemShape& s, int transforms) {
  const int64_t row = int64_t{s.width} * transforms;
  const int64_t valid_rows = s.height - s.template_size + 1;
  return {.template_rows = {s.width, int64_t{s.template_size} * transforms, 1, s.width},
          .columns = {s.height, row, row, 1},
          .valid_rows = {s.width, valid_rows * transforms, 1, s.width}};
}

}  // namespace engine::cuda
