// Estimates how long one correlation takes on a machine that was not measured, from its transforms
// alone, which dominate. The estimate is right within a factor of three. `pixels` is the number of
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

// The factor was measured on a processor of 2023.
inline double seconds_on_cores(double pixels, int cores) {
  return 3.5e-10 * pixels * std::log2(pixels) / cores;
}

}  // namespace base
