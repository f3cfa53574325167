// The template in real space: density on a cubic grid, index [z][y][x].
#pragma once

#include <cstddef>
#include <vector>

namespace engine {

struct Volume {
  int size = 0;  // voxels along each edge
  std::vector<float> voxels;

  float at(int z, int y, int x) const {
    const auto n = static_cast<size_t>(size);
    return voxels[(static_cast<size_t>(z) * n + static_cast<size_t>(y)) * n +
                  static_cast<size_t>(x)];
  }
};

}  // namespace engine
