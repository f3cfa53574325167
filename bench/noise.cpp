#include "bench/noise.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>

namespace bench {
namespace {

// As in the published figures that ours are compared with.
constexpr int kPlanes = 11;

// Coarse: more orientations than a measurement comes through, and few enough to list at once.
engine::OrientationGrid grid() {
  engine::OrientationGrid coarse;
  coarse.psi_step = 6;
  coarse.theta_step = 6;
  return coarse;
}

// Numbers of magnitude 1 (rms): an image whose correlations have the deviation 1, as in a search.
// Made in seconds, which std::normal_distribution would not.
std::vector<std::complex<float>> noise(size_t count, uint64_t seed) {
  std::vector<std::complex<float>> values(count);
  uint64_t state = 0x9e3779b97f4a7c15 ^ seed;
  // Both parts evenly from -1 to 1 would have sqrt(2/3).
  const auto scale = static_cast<float>(std::sqrt(1.5) / 2147483648.0);
  for (auto& value : values) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    value = {static_cast<float>(static_cast<int32_t>(state)) * scale,
             static_cast<float>(static_cast<int32_t>(state >> 32)) * scale};
  }
  return values;
}

// Makes the spectrum one of real numbers: of its first column and, where the width is even, its
// last one, the lower half is the conjugate of the upper. Paths that differ in what they take from
// there would differ in their maps.
void make_real(std::vector<std::complex<float>>& spectrum, size_t height, size_t width) {
  const size_t columns = width / 2 + 1;
  for (const size_t column : {size_t{0}, width / 2}) {
    if (column != 0 && width % 2 != 0) continue;
    for (size_t row = 0; row <= height / 2; ++row) {
      std::complex<float>& value = spectrum[row * columns + column];
      const size_t other = (height - row) % height;
      if (other == row) value = std::abs(value);
      spectrum[other * columns + column] = std::conj(value);
    }
  }
}

}  // namespace

engine::ProblemShape Noise::shape_of(const CaseOptions& wanted) {
  return {.height = wanted.height,
          .width = wanted.width,
          .template_size = wanted.n,
          .planes = kPlanes,
          .orientations = engine::count_orientations({grid()})};
}

Noise::Noise(const CaseOptions& wanted) {
  const engine::OrientationList list = engine::make_orientations({grid()});
  const auto n = static_cast<size_t>(wanted.n);
  const auto height = static_cast<size_t>(wanted.height);
  const auto width = static_cast<size_t>(wanted.width);
  problem_.height = wanted.height;
  problem_.width = wanted.width;
  problem_.template_size = wanted.n;
  problem_.image_spectrum = noise(height * (width / 2 + 1), 1);
  problem_.image_spectrum[0] = 0;
  make_real(problem_.image_spectrum, height, width);
  problem_.volume_spectrum = noise(n * n * (n / 2 + 1), 2);
  for (int plane = 0; plane < kPlanes; ++plane) {
    problem_.filters.push_back(noise(n * (n / 2 + 1), 3 + static_cast<uint64_t>(plane)));
  }
  problem_.extreme_pixel = "this is noise";
  problem_.orientations = list.orientations;
  units_ = engine::make_units(list, true);
}

engine::ProblemShape Noise::shape() const {
  return {problem_.height, problem_.width, problem_.template_size, problem_.planes(),
          static_cast<int64_t>(problem_.orientations.size())};
}

engine::Accumulators Noise::after_a_million() const {
  constexpr int64_t kCorrelations = 1'000'000;
  // One in a million normal numbers is larger.
  constexpr float kMaximum = 4.753F;
  engine::Accumulators accumulators(problem_.valid_height(), problem_.valid_width());
  std::ranges::fill(accumulators.best, engine::pack_best(kMaximum, 0));
  std::ranges::fill(accumulators.squares, kCorrelations << engine::kSquareBits);
  return accumulators;
}

}  // namespace bench
