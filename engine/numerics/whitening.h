// Filters along the frequency axis, in cycles/pixel (docs/numerics.md, The micrograph). Pure
// functions.
#pragma once

#include <complex>
#include <vector>

#include "engine/config/config.h"

namespace engine {

// Returns |f| of the sample (row, column) in the half-plane transform of a height x width image.
double frequency(int row, int column, int height, int width);

// A whitening curve, `weights[j]` at `frequencies[j]`, evenly spaced from 0 to sqrt(2)/2.
struct WhiteningCurve {
  std::vector<double> frequencies;  // of the bins' centres
  std::vector<double> power;        // root of the mean power (or mean amplitude) per bin
  std::vector<double> weights;
  double at(double frequency) const;  // the weight: linear between bins, 1 from the last bin on
};

// Returns int((max(height, width/2+1)/2 + 1) * sqrt(2) + 1), for the half-plane transform of a
// height x width image.
int automatic_bins(int height, int width);

// Makes the curve that whitens an image. `spectrum` is its unfiltered half-plane transform, height
// x (width/2+1), with spectrum[0] = 0.
WhiteningCurve whitening_curve(const std::vector<std::complex<double>>& spectrum, int height,
                               int width, const WhiteningFilter& filter);

// Returns the filter's amplitude, 0 to 1 with cosine edges of width `falloff`; 1 where it is not
// enabled.
double bandpass_at(double frequency, const BandpassFilter& filter);

// Returns the filter's amplitude: linear between the given points, 1 below the first and from the
// last frequency on, and 1 where it is not enabled.
double curve_at(double frequency, const ArbitraryCurveFilter& filter);

}  // namespace engine
