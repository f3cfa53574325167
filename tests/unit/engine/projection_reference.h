// Mirror and normalisation of a projection as docs/numerics.md writes them, in double, for one with
// any mean.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace engine {

// The projection for psi + 180: p(-y, -x).
inline std::vector<float> mirrored_projection(const std::vector<float>& projection, int n) {
  const auto size = static_cast<size_t>(n);
  std::vector<float> out(projection.size());
  for (size_t y = 0; y < size; ++y) {
    for (size_t x = 0; x < size; ++x) {
      out[y * size + x] = projection[(size - y) % size * size + (size - x) % size];
    }
  }
  return out;
}

inline std::vector<float> normalised_projection(const std::vector<float>& projection, int n,
                                                int height, int width, double scale = 1.0) {
  const auto size = static_cast<size_t>(n);
  const double box = static_cast<double>(n) * n;
  double edge = 0;
  for (size_t i = 0; i < projection.size(); ++i) {
    const size_t y = i / size, x = i % size;
    if (y == 0 || y + 1 == size || x == 0 || x + 1 == size) edge += projection[i];
  }
  edge /= 4.0 * n - 4.0;
  double sum = 0;
  for (const float p : projection) sum += p - edge;
  const double ratio = box / (static_cast<double>(height) * width);
  const double mean = ratio * ratio * sum / box;
  double variance = static_cast<double>(height - n) * (width - n) * mean * mean;
  for (const float p : projection) variance += std::pow(p - edge - mean, 2);
  const double factor =
      std::sqrt(static_cast<double>(height) * width) / std::sqrt(std::max(variance, 1e-60)) * scale;
  std::vector<float> out;
  for (const float p : projection) out.push_back(static_cast<float>((p - edge) * factor));
  return out;
}

}  // namespace engine
