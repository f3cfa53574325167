// Makes the template's rows, with which a correlation begins, from back-transforms: they are
// centred, mirrored and normalised (docs/numerics.md, Projections).
#pragma once

#include "engine/backend/transforms.h"

namespace engine::cuda {

// The normalised projection is (value - edge) x factor; the mirrored one has the same pixels but
// another border.
struct ProjectionScale {
  double edge = 0, factor = 0;
  double mirrored_edge = 0, mirrored_factor = 0;
};

// The sizes of the image that normalisations_of() needs.
struct ImageArea {
  double pixels = 0;   // height x width
  double outside = 0;  // (height - n) x (width - n)
  double scale = 1;    // factor for every projection
};

// Projections in memory: n x n each, with the particle at the corner, where the back-transform
// leaves it.
struct Projections {
  const float* back_transforms = nullptr;
  const ProjectionScale* scales = nullptr;
  int n = 0;
};

// Returns the factor of normalisations_of(), from the sums of n x n values and of their squares.
__device__ inline double normalising_factor(double sum, double squares, double edge, int n,
                                            ImageArea area) {
  const double box = static_cast<double>(n) * n;
  const double shifted_sum = sum - box * edge;
  const double shifted_squares = squares - 2.0 * edge * sum + box * edge * edge;
  const double ratio = box / area.pixels;
  const double mean = shifted_sum / box * ratio * ratio;
  const double variance =
      shifted_squares - 2.0 * mean * shifted_sum + box * mean * mean + area.outside * mean * mean;
  // An empty projection stays empty.
  return sqrt(area.pixels) / sqrt(fmax(variance, 1e-60)) * area.scale;
}

// Computes the scales of projections, with one block of kThreads for each. Shared memory: 4 x
// kThreads doubles. Every sum is a fixed tree, so that its bits do not depend on other projections.
template <int kThreads>
__global__ void __launch_bounds__(kThreads)
    measure_projections(const float* __restrict__ back_transforms, int n, ImageArea area,
                        ProjectionScale* __restrict__ scales) {
  double* sums = shared_memory<double>();
  const auto thread = static_cast<int>(threadIdx.x);
  const int half = n / 2;
  const int after = (half + 1) % n;
  const float* image = back_transforms + static_cast<size_t>(blockIdx.x) * n * n;
  double sum = 0, squares = 0, edge = 0, mirrored_edge = 0;
  for (int at = thread; at < n * n; at += kThreads) {
    const int row = at / n;
    const int column = at - row * n;
    const double value = image[at];
    sum += value;
    squares += value * value;
    // Centring makes row n/2 row 0, the row before it the last one, and the row after it row 1,
    // which mirroring makes the last one. Columns are alike.
    const bool at_corner = row == half || column == half;
    if (at_corner || row == half - 1 || column == half - 1) edge += value;
    if (at_corner || row == after || column == after) mirrored_edge += value;
  }
  sums[thread] = sum;
  sums[kThreads + thread] = squares;
  sums[2 * kThreads + thread] = edge;
  sums[3 * kThreads + thread] = mirrored_edge;
  for (int width = kThreads / 2; width > 0; width /= 2) {
    __syncthreads();
    if (thread < width) {
      for (int k = 0; k < 4; ++k)
        sums[k * kThreads + thread] += sums[k * kThreads + thread + width];
    }
  }
  if (thread > 0) return;
  const double border = 4.0 * n - 4.0;
  ProjectionScale out;
  out.edge = sums[2 * kThreads] / border;
  out.mirrored_edge = sums[3 * kThreads] / border;
  out.factor = normalising_factor(sums[0], sums[kThreads], out.edge, n, area);
  out.mirrored_factor = normalising_factor(sums[0], sums[kThreads], out.mirrored_edge, n, area);
  scales[blockIdx.x] = out;
}

// Returns the value of the back-transform that centring moves to (row, column).
__device__ inline float centred_value(const float* image, int n, int row, int column) {
  const int y = row + n / 2;
  const int x = column + n / 2;
  return image[static_cast<size_t>(y < n ? y : y - n) * n + (x < n ? x : x - n)];
}

__device__ inline float normalised_value(const Projections& p, int slot, int row, int column) {
  const ProjectionScale& s = p.scales[slot];
  const float* image = p.back_transforms + static_cast<size_t>(slot) * p.n * p.n;
  return static_cast<float>((centred_value(image, p.n, row, column) - s.edge) * s.factor);
}

__device__ inline float mirrored_value(const Projections& p, int slot, int row, int column) {
  const ProjectionScale& s = p.scales[slot];
  const float* image = p.back_transforms + static_cast<size_t>(slot) * p.n * p.n;
  const float value =
      centred_value(image, p.n, row > 0 ? p.n - row : 0, column > 0 ? p.n - column : 0);
  return static_cast<float>((value - s.mirrored_edge) * s.mirrored_factor);
}

// Returns a - i b at a pixel of the template (backend/transforms.h).
__device__ inline float2 template_value(const Projections& p, const Transform& t, int row,
                                        int column) {
  float2 value = make_float2(0, 0);
  if (t.a >= 0) value.x = normalised_value(p, t.a, row, column);
  if (t.b >= 0) {
    value.y =
        t.b == t.a ? -mirrored_value(p, t.a, row, column) : -normalised_value(p, t.b, row, column);
  }
  return value;
}

// Fills template row blockIdx.y of transform blockIdx.z, padded with zeros to the image's width:
// rows[row][transform][column]. Grid: blocks over the width x n x transforms.
static __global__ void pack_template_rows(Projections p, const Transform* __restrict__ transforms,
                                          int width, float2* __restrict__ rows) {
  const auto x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (x >= width) return;
  const auto row = static_cast<int>(blockIdx.y);
  const size_t line = static_cast<size_t>(row) * gridDim.z + blockIdx.z;
  rows[line * width + x] =
      x < p.n ? template_value(p, transforms[blockIdx.z], row, x) : make_float2(0, 0);
}

}  // namespace engine::cuda
