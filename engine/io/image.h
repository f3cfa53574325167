// A two-dimensional image in real space, row-major (last index fastest). Rows are MRC's y, columns
// MRC's x.
#pragma once

#include <cstddef>
#include <vector>

namespace engine {

struct Image {
  int height = 0;
  int width = 0;
  std::vector<float> pixels;

  Image() = default;
  Image(int h, int w, float value = 0.0f)
      : height(h), width(w), pixels(static_cast<size_t>(h) * static_cast<size_t>(w), value) {}

  float& at(int row, int column) { return pixels[index(row, column)]; }
  float at(int row, int column) const { return pixels[index(row, column)]; }

 private:
  size_t index(int row, int column) const {
    return static_cast<size_t>(row) * static_cast<size_t>(width) + static_cast<size_t>(column);
  }
};

}  // namespace engine
