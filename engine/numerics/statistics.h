// The statistics that a search accumulates for each pixel. The result does not depend on the order
// of the work: sums are integers, and maxima are ordered by value, then by the lower index
// (docs/numerics.md, Statistics). Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/numerics/maps.h"
#include "engine/numerics/orientations.h"

namespace engine {

// Fixed-point scales: a correlation is stored to 2^-20, a squared one to 2^-16. For two
// correlations u and v of one transform, u + v is rounded once, and v^2 is rounded before u^2 is
// added and the sum is rounded. All rounding is to nearest, ties to even.
constexpr int kSumBits = 20;
constexpr int kSquareBits = 16;
// A sum of squares of at least this value could leave its range with the next addition.
constexpr uint64_t kSquareLimit = uint64_t{1} << 62;

// Packs a value and its index into one key that orders by value, then by the lower index, so that
// the maximum of two keys merges them. Index = plane * orientations + orientation.
uint64_t pack_best(float value, uint32_t index);
float best_value(uint64_t key);
uint32_t best_index(uint64_t key);

// The sums over the valid region, row-major.
struct Accumulators {
  int height = 0;
  int width = 0;
  std::vector<uint64_t> best;    // pack_best, 0 before the first correlation
  std::vector<int64_t> sum;      // of correlations x 2^kSumBits
  std::vector<int64_t> squares;  // of squared correlations x 2^kSquareBits

  Accumulators() = default;
  Accumulators(int h, int w)
      : height(h),
        width(w),
        best(static_cast<size_t>(h) * static_cast<size_t>(w)),
        sum(best.size()),
        squares(best.size()) {}
};

// Adds `other` to `into`, which has the same shape.
void merge(Accumulators& into, const Accumulators& other);

// Throws InputError because sums have left their range at this pixel of the maps. `extreme_pixel`
// is Problem::extreme_pixel.
[[noreturn]] void refuse_sums(int64_t row, int64_t column, const std::string& extreme_pixel);

struct Moments {
  double mean = 0;
  double sd = 0;
};
// Rounding makes deviations below this too small by more than 0.3 %. Noise has a deviation of about
// 1, so such a pixel lies in a blank part of the micrograph, where z-scores mean nothing.
constexpr double kSmallestDeviation = 0x1p-7;
// Returns (value - mean) / sd; 0 where sd is below kSmallestDeviation.
double z_score(double value, const Moments& moments);
// Returns the moments from one pixel's sums; `correlations` is how many were added, 1 or more.
Moments moments(int64_t sum, int64_t squares, int64_t correlations);

// Returns the moments of one or more values; the deviation is the population's.
Moments moments(const std::vector<float>& values);

// Returns the largest z_score() of the MIP over the pixels, each with `correlations` correlations;
// 0 for fewer than two.
double best_z(const Accumulators& accumulators, int64_t correlations);

// Makes the eight maps of a finished search: decodes the best indices into angles and defocus, and
// scales the MIP. The indices must refer to these `orientations` and `planes` (A, relative).
Maps finalise(const Accumulators& accumulators, const std::vector<Orientation>& orientations,
              const std::vector<float>& planes);

}  // namespace engine
