// How long a correlation takes where nothing was measured, from its transforms alone, which
// dominate: right within a factor of three. `pixels` are those of the image.
#pragma once

#include <cmath>

namespace base {

// Bytes that a GPU reads and writes for each pixel of a correlation, by the kind of transforms.
inline constexpr double kCufftBytes = 40;
inline constexpr double kFusedBytes = 10;
inline constexpr double kFusedFp16Bytes = 5;

// At 2 TB/s. Arithmetic; not measured.
inline double seconds_on_gpu(double pixels, double bytes) { return 5e-13 * bytes * pixels; }

// Measured on a processor of 2023.
inline double seconds_on_cores(double pixels, int cores) {
  return 3.5e-10 * pixels * std::log2(pixels) / cores;
}

}  // namespace base
