// Transforms for the preparation of a search. Unnormalised, forward sign exp(-2 pi i ...),
// half-plane (last axis 0 .. n/2). Never planned by timing, so that bits do not depend on the run.
#pragma once

#include <complex>
#include <string>
#include <vector>

#include "engine/io/image.h"

namespace engine {

// Returns height x (width/2+1), in double.
std::vector<std::complex<double>> forward_2d(const Image& image);

// Returns height x width, divided by height x width; `spectrum` is height x (width/2+1).
std::vector<double> inverse_2d(std::vector<std::complex<double>> spectrum, int height, int width);

// Returns size x size x (size/2+1), in float32, from size^3 values.
std::vector<std::complex<float>> forward_3d(const std::vector<float>& values, int size);

// Name and version of the library behind these.
std::string fft_library_version();

}  // namespace engine
