// Filters on the frequency axis, in cycles/pixel (docs/numerics.md, The micrograph). Pure.
#pragma once

#include <complex>
#include <vector>

#include "engine/config/config.h"

namespace engine {

// |f| of sample (row, column) of a half-plane transform of a height x width image.
double frequency(int row, int column, int height, int width);

// Whitening curve: `weights[j]` at `frequencies[j]`, evenly spaced from 0 to sqrt(2)/2.
struct WhiteningCurve {
  std::vector<double> frequencies;  // of the bins' centres
  std::vector<double> power;        // root of the mean power (or mean amplitude) per bin
  std::vector<double> weights;
  double at(double frequency) const;  // linear between bins, 1 at and beyond the last
};

// int((max(height, width/2+1)/2 + 1) * sqrt(2) + 1): from the shape of the half-plane transform.
int automatic_bins(int height, int width);

// `spectrum` is the height x (width/2+1) half-plane transform of the image, unfiltered, with
// spectrum[0] = 0.
WhiteningCurve whitening_curve(const std::vector<std::complex<double>>& spectrum, int height,
                               int width, const WhiteningFilter& filter);

// Amplitude from 0 to 1 with cosine edges of width `falloff`; 1 where the filter is not enabled.
double bandpass_at(double frequency, const BandpassFilter& filter);

// Linear between the given points, 1 below the first and at and above the last frequency.
double curve_at(double frequency, const ArbitraryCurveFilter& filter);

}  // namespace engine
