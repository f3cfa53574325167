// One projection of the template: central slice, filter, back-transform, normalisation
// (docs/numerics.md, Projections). Pure but for the transform, which the backend does.
#pragma once

#include <complex>
#include <vector>

#include "engine/numerics/ctf.h"
#include "engine/numerics/orientations.h"

namespace engine {

// Central slice of `volume` (volume_spectrum's layout, n^3) perpendicular to the beam at rotation
// R, n x (n/2+1) in half-plane order (rows 0 .. n/2-1, -n/2 .. -1), [0] = 0, sign flipped so that
// density is dark. Trilinear, 0 outside the cube; coordinates in double. `keep_zero_frequency`
// leaves [0] for magnify_slice.
void extract_slice(const std::complex<float>* volume, int n, const Rotation& rotation,
                   std::complex<float>* slice, bool keep_zero_frequency = false);

// The slice resampled for an anisotropic magnification, in place, then [0] = 0; `scratch` is
// resized. Samples beside zero frequency are interpolated from it, as Leopard-EM does.
void magnify_slice(const FrequencyTransform& transform, int n, std::complex<float>* slice,
                   std::vector<std::complex<float>>& scratch);

// Moves the particle from the corner of the back-transform to (n/2, n/2). Both are n x n.
void centre_projection(const float* back_transform, int n, float* projection);

// The projection of the orientation with psi + 180: p(-y, -x), so its borders are rows and columns
// 0 and 1 of `projection`.
void mirror_projection(const float* projection, int n, float* mirrored);

// In place: subtracts the mean of the border and scales so that, padded with zeros to height x
// width, the projection has the variance that gives noise a correlation of unit deviation; then
// multiplies by `scale`.
void normalise_projection(float* projection, int n, int height, int width, double scale = 1.0);

}  // namespace engine
