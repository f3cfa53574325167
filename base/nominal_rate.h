// Estimates how long one correlation takes on a machine that was not measured, from its transforms
// alone, which dominate. The estimate is right within a factor of three, except for FFTW where a
// side has a large prime factor: there it takes up to five times as long. `pixels` is the number of
// pixels in the image; results are in seconds.
#pragma once

#include <cmath>

namespace base {

// Bytes that a GPU reads and writes per pixel of a correlation, by the kind of transforms.
inline constexpr double kCufftBytes = 40;
inline constexpr double kFusedBytes = 10;
inline constexpr double kFusedFp16Bytes = 5;

// Assumes a memory bandwidth of 2 TB/s: calculated, not measured.
inline double seconds_on_gpu(double pixels, double bytes) { return 5e-13 * bytes * pixels; }

// Seconds that a core takes for each pixel and doubling of the pixels, by the kind of transforms:
// by a sixth to a half more than one thread took on a processor of 2023 (AMD Zen 4, AVX-512 or
// AVX2, 512 x 512 to 4096 x 4096), since most are slower.
inline constexpr double kFusedOnCore = 9e-11;
inline constexpr double kFftwOnCore = 2.7e-10;

inline double seconds_on_cores(double pixels, int cores, double on_core) {
  return on_core * pixels * std::log2(pixels) / cores;
}

}  // namespace base
