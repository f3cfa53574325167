// From a slice of the template's spectrum to a projection in real space.
#pragma once

#include <memory>

#include "engine/numerics/fft_plan.h"

namespace engine::cpu {

// Computes projections of n x n pixels, unnormalised; n is even.
class BackTransform {
 public:
  virtual ~BackTransform() = default;
  // `slice` and `filter` are half-planes, n x (n/2+1). Writes the inverse transform of their
  // product to `projection`, n x n, with the origin at pixel (n/2, n/2), and returns the sum of the
  // squares of its pixels. Each thread at work has its own number, from 0.
  virtual double compute(const Complex* slice, const Complex* filter, float* projection,
                         int thread) = 0;
};

// Adds up the squares of a projection's pixels.
double sum_of_squares(const float* projection, int n);

// With the library that engine/numerics/fft.h names.
std::unique_ptr<BackTransform> make_plain_back_transform(int n, int threads);

}  // namespace engine::cpu
