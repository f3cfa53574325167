// Transforms for the preparation of a search: unnormalised unless stated, forward sign
// exp(-2 pi i ...), half-plane (last axis 0 .. n/2). They are never planned by timing, so that the
// bits do not depend on the run. FFTW computes them or, in a build without it, kissfft.
#pragma once

#include <complex>
#include <string>
#include <vector>

#include "engine/io/image.h"

namespace engine {

// Returns height x (width/2+1) values.
std::vector<std::complex<double>> forward_2d(const Image& image);

// Returns height x width, divided by height x width; `spectrum` is height x (width/2+1).
std::vector<double> inverse_2d(std::vector<std::complex<double>> spectrum, int height, int width);

// Returns size x size x (size/2+1) values of float32 from size^3 values.
std::vector<std::complex<float>> forward_3d(const std::vector<float>& values, int size);

inline constexpr const char* kFftw = "fftw";

// The library that computes them.
struct FftLibrary {
  std::string name;
  std::string version;
};
FftLibrary fft_library();

}  // namespace engine
