// Expands the image's spectrum, and multiplies it by the templates' spectra.
#pragma once

namespace engine::cuda {

// Makes the whole plane, height x width, from a real image's half-plane, height x (width/2+1).
// Grid: blocks over the width x height.
static __global__ void expand_spectrum(const float2* __restrict__ half, int height, int width,
                                       float2* __restrict__ whole) {
  const auto x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (x >= width) return;
  const auto y = static_cast<int>(blockIdx.y);
  const int columns = width / 2 + 1;
  float2 value;
  if (x < columns) {
    value = half[static_cast<size_t>(y) * columns + x];
  } else {
    const int mate = y > 0 ? height - y : 0;
    value = half[static_cast<size_t>(mate) * columns + width - x];
    value.y = -value.y;
  }
  whole[static_cast<size_t>(y) * width + x] = value;
}

// Replaces spectra[row][transform][column] by its conjugate x image[row][column]. Grid: blocks over
// the width x height.
static __global__ void multiply_conjugate(const float2* __restrict__ image, int width,
                                          int transforms, float2* __restrict__ spectra) {
  const auto x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (x >= width) return;
  const size_t row = blockIdx.y;
  const float2 b = image[row * width + x];
  for (int t = 0; t < transforms; ++t) {
    float2& at = spectra[(row * transforms + t) * width + x];
    const float2 a = at;
    at = make_float2(a.x * b.x + a.y * b.y, a.x * b.y - a.y * b.x);
  }
}

}  // namespace engine::cuda
