// The steps of one projection of the template: central slice, filter, back-transform and
// normalisation (docs/numerics.md, Projections). The backend does the filter and the transform, and
// applies the factors of the normalisation; the functions here are pure.
#pragma once

#include <complex>
#include <vector>

#include "engine/numerics/ctf.h"
#include "engine/numerics/orientations.h"

namespace engine {

// Extracts from `volume` (as volume_spectrum() lays it out) the central slice perpendicular to the
// beam at `rotation`: n x (n/2+1) in half-plane order (rows 0 .. n/2-1, -n/2 .. -1), [0] = 0, sign
// flipped so that density is dark. Interpolation is trilinear with coordinates in double, and 0
// outside the cube. `keep_zero_frequency` leaves [0] as it is, for magnify_slice().
void extract_slice(const std::complex<float>* volume, int n, const Rotation& rotation,
                   std::complex<float>* slice, bool keep_zero_frequency = false);

// Resamples a slice in place for an anisotropic magnification, then sets [0] = 0; `scratch` is
// resized. Samples next to zero frequency are interpolated from it, as in Leopard-EM.
void magnify_slice(const FrequencyTransform& transform, int n, std::complex<float>* slice,
                   std::vector<std::complex<float>>& scratch);

// Moves the particle from the corner of the back-transform to (n/2, n/2). Both are n x n.
void centre_projection(const float* back_transform, int n, float* projection);

// Pixel p of a normalised projection is (p - edge) x factor.
struct Normalisation {
  double edge = 0;  // the mean of the border
  double factor = 0;
};

// The projection for psi + 180 is p(-y, -x), mirrored: it has the same pixels as p, but its borders
// are rows and columns 0 and 1 of p.
struct Normalisations {
  Normalisation own, mirrored;
};

// Returns the factors for which a projection, padded with zeros to height x width, has the variance
// for which noise correlates with unit deviation, times `scale`. `projection` is n x n, with a mean
// of 0, since its zero frequency is 0; `squares` is the sum of the squares of its pixels.
Normalisations normalisations_of(const float* projection, double squares, int n, int height,
                                 int width, double scale = 1.0);

}  // namespace engine
