#include "engine/numerics/statistics.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "engine/error.h"

namespace engine {
namespace {

// Monotone map of floats onto unsigned integers.
uint32_t ordered(float value) {
  const auto bits = std::bit_cast<uint32_t>(value + 0.0f);  // -0 becomes +0
  return (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
}

float unordered(uint32_t key) {
  return std::bit_cast<float>((key & 0x80000000u) != 0 ? key & 0x7fffffffu : ~key);
}

}  // namespace

uint64_t pack_best(float value, uint32_t index) {
  return uint64_t{ordered(value)} << 32 | (0xffffffffu - index);
}

float best_value(uint64_t key) { return unordered(static_cast<uint32_t>(key >> 32)); }

uint32_t best_index(uint64_t key) { return 0xffffffffu - static_cast<uint32_t>(key); }

void merge(Accumulators& into, const Accumulators& other) {
  for (size_t i = 0; i < into.best.size(); ++i) {
    into.best[i] = std::max(into.best[i], other.best[i]);
    into.sum[i] += other.sum[i];
    into.squares[i] += other.squares[i];
  }
}

void refuse_sums(int64_t row, int64_t column, const std::string& extreme_pixel) {
  throw InputError("correlation sums leave their range at map pixel (row " + std::to_string(row) +
                   ", column " + std::to_string(column) + "); " + extreme_pixel +
                   ": remove hot pixels, gold and contamination from the micrograph first");
}

Moments moments(int64_t sum, int64_t squares, int64_t correlations) {
  const auto n = static_cast<double>(correlations);
  const double mean = std::ldexp(static_cast<double>(sum), -kSumBits) / n;
  const double mean_square = std::ldexp(static_cast<double>(squares), -kSquareBits) / n;
  return {mean, std::sqrt(std::max(mean_square - mean * mean, 0.0))};
}

Moments moments(const std::vector<float>& values) {
  double sum = 0;
  double squares = 0;
  for (const float value : values) {
    sum += value;
    squares += static_cast<double>(value) * value;
  }
  const auto count = static_cast<double>(values.size());
  const double mean = sum / count;
  return {mean, std::sqrt(std::max(squares / count - mean * mean, 0.0))};
}

double z_score(double value, const Moments& moments) {
  return moments.sd < kSmallestDeviation ? 0.0 : (value - moments.mean) / moments.sd;
}

double best_z(const Accumulators& a, int64_t correlations) {
  if (correlations < 2) return 0;
  double best = 0;
  for (size_t i = 0; i < a.best.size(); ++i) {
    const Moments m = moments(a.sum[i], a.squares[i], correlations);
    best = std::max(best, z_score(best_value(a.best[i]), m));
  }
  return best;
}

Maps finalise(const Accumulators& a, const std::vector<Orientation>& orientations,
              const std::vector<float>& planes) {
  Maps maps;
  maps.height = a.height;
  maps.width = a.width;
  maps.total_orientations = static_cast<int64_t>(orientations.size());
  maps.total_defocus = static_cast<int64_t>(planes.size());
  maps.total_correlations = maps.total_orientations * maps.total_defocus;
  for (Image* map : {&maps.mip, &maps.scaled_mip, &maps.mean, &maps.sd, &maps.psi, &maps.theta,
                     &maps.phi, &maps.relative_defocus}) {
    *map = Image(a.height, a.width);
  }
  for (size_t i = 0; i < a.best.size(); ++i) {
    const Moments m = moments(a.sum[i], a.squares[i], maps.total_correlations);
    const float mip = best_value(a.best[i]);
    const uint32_t index = best_index(a.best[i]);
    const Orientation& o = orientations[index % orientations.size()];
    maps.mip.pixels[i] = mip;
    maps.mean.pixels[i] = static_cast<float>(m.mean);
    maps.sd.pixels[i] = static_cast<float>(m.sd);
    maps.scaled_mip.pixels[i] = static_cast<float>(z_score(mip, m));
    maps.psi.pixels[i] = o.psi;
    maps.theta.pixels[i] = o.theta;
    maps.phi.pixels[i] = o.phi;
    maps.relative_defocus.pixels[i] = planes[index / orientations.size()];
  }
  return maps;
}

}  // namespace engine
