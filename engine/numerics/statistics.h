// What a search accumulates per pixel, so that the result does not depend on the order of the work:
// sums are integers, the maximum is ordered by value and then by the lower index (docs/numerics.md,
// Statistics). Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/numerics/maps.h"
#include "engine/numerics/orientations.h"

namespace engine {

// Fixed-point scales: a correlation is stored to 2^-20, a squared one to 2^-16. Of two correlations
// u and v of one transform, u + v is rounded once; v^2 is, and then the sum of that and u^2. All to
// the nearest, ties to even.
constexpr int kSumBits = 20;
constexpr int kSquareBits = 16;
// A sum of squares at or above this could leave the range with the next addition.
constexpr uint64_t kSquareLimit = uint64_t{1} << 62;

// A value and its index as one key that orders by value, then by the lower index. Reducing keys by
// maximum is the whole merge. Index = plane * orientations + orientation.
uint64_t pack_best(float value, uint32_t index);
float best_value(uint64_t key);
uint32_t best_index(uint64_t key);

// Over the valid region, row by row.
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

// Adds `other` to `into`; both of one shape.
void merge(Accumulators& into, const Accumulators& other);

// Ends a search whose sums leave their range at a pixel of the maps: throws InputError.
// `extreme_pixel`: a sentence about the micrograph.
[[noreturn]] void refuse_sums(int64_t row, int64_t column, const std::string& extreme_pixel);

struct Moments {
  double mean = 0;
  double sd = 0;
};
// Rounding makes deviations below this too small by more than 0.3 %. Noise has about 1: this is a
// blank part of the micrograph, where no correlation is a z-score of anything.
constexpr double kSmallestDeviation = 0x1p-7;
// (value - mean) / sd; 0 where the deviation is below kSmallestDeviation.
double z_score(double value, const Moments& moments);
// From one pixel's sums; `correlations` is how many were added, 1 or more.
Moments moments(int64_t sum, int64_t squares, int64_t correlations);

// Of the values themselves, at least one; the deviation is that of the population.
Moments moments(const std::vector<float>& values);

// Largest (mip - mean) / sd over the pixels, after `correlations` of them; 0 before there are two.
double best_z(const Accumulators& accumulators, int64_t correlations);

// The eight maps of a finished search: decodes the best indices into angles and defocus, and scales
// the MIP. `orientations` and `planes` (A, relative) are those that the indices were made from.
Maps finalise(const Accumulators& accumulators, const std::vector<Orientation>& orientations,
              const std::vector<float>& planes);

}  // namespace engine
