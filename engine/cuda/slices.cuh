// Makes filtered central slices from the template's spectrum, as engine/numerics/projection.cpp
// does, for many orientations and planes at once. Half-planes are n x (n/2+1), rows 0 .. n/2-1,
// -n/2 .. -1.
#pragma once

namespace engine::cuda {

// The FrequencyTransform of engine/numerics/ctf.h; `scale` is 1/determinant.
struct Magnification {
  double yy = 1, yx = 0, xy = 0, xx = 1;
  float scale = 1;
};

__device__ inline float2 scaled(float2 a, float factor) {
  return make_float2(a.x * factor, a.y * factor);
}

__device__ inline float2 plus(float2 a, float2 b) { return make_float2(a.x + b.x, a.y + b.y); }

// Returns a (1 - t) + b t.
__device__ inline float2 between(float2 a, float2 b, float t) {
  return plus(scaled(a, 1 - t), scaled(b, t));
}

__device__ inline double clamp_near(double value, double bound) {
  // Coordinates this near to a plane of the volume count as on it.
  return fabs(value - bound) < 1e-5 ? bound : value;
}

// Interpolates between four neighbours in one plane of the volume; `ay` and `ax` are the fractions
// along rows and columns.
__device__ inline float2 bilinear(const float2* top_left, int stride, float ay, float ax) {
  const float2* bottom_left = top_left + stride;
  return between(between(__ldg(top_left), __ldg(top_left + 1), ax),
                 between(__ldg(bottom_left), __ldg(bottom_left + 1), ax), ay);
}

// Interpolates trilinearly at (z, y, x) of the n x n x (n/2+1) spectrum; 0 outside.
__device__ inline float2 sample_volume(const float2* volume, int n, double z, double y, double x) {
  if (z < 0 || z > n - 1 || y < 0 || y > n - 1 || x > n / 2) return make_float2(0, 0);
  const int z0 = min(static_cast<int>(z), n - 2);
  const int y0 = min(static_cast<int>(y), n - 2);
  const int x0 = min(static_cast<int>(x), n / 2 - 1);
  const auto az = static_cast<float>(z - z0);
  const auto ay = static_cast<float>(y - y0);
  const auto ax = static_cast<float>(x - x0);
  const int columns = n / 2 + 1;
  const float2* low = volume + (static_cast<size_t>(z0) * n + y0) * columns + x0;
  const float2* high = low + static_cast<size_t>(n) * columns;
  return between(bilinear(low, columns, ay, ax), bilinear(high, columns, ay, ax), az);
}

// Does extract_slice() for one frequency (ky, kx); `r` is a rotation of slice_rotations().
__device__ inline float2 slice_value(const float2* volume, int n, const double* r, int ky, int kx) {
  const int half = n / 2;
  double x = r[0] * kx + r[1] * ky;
  double y = r[3] * kx + r[4] * ky;
  double z = r[6] * kx + r[7] * ky;
  const bool on_plane = fabs(x) < 1e-5;
  if (on_plane) x = 0;
  // The half with negative x is not stored: read the Friedel mate.
  const bool negative_axis = r[0] < 0 || (r[0] == 0 && r[1] < 0);
  const bool mate = x < 0 || (on_plane && negative_axis);
  if (mate) {
    x = -x;
    y = -y;
    z = -z;
  }
  const float2 v = sample_volume(volume, n, clamp_near(clamp_near(z + half, 0), n - 1),
                                 clamp_near(clamp_near(y + half, 0), n - 1), clamp_near(x, half));
  return make_float2(-v.x, mate ? v.y : -v.y);
}

// Extracts a slice for each unit; `rotations` has nine numbers for each. Grid: blocks over the
// half-plane x units.
static __global__ void extract_slices(const float2* __restrict__ volume, int n,
                                      const double* __restrict__ rotations,
                                      bool keep_zero_frequency, float2* __restrict__ slices) {
  const int columns = n / 2 + 1;
  const int at = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (at >= n * columns) return;
  const int row = at / columns;
  const size_t unit = blockIdx.y;
  float2 value = make_float2(0, 0);
  if (at > 0 || keep_zero_frequency) {
    value = slice_value(volume, n, rotations + 9 * unit, row < n / 2 ? row : row - n,
                        at - row * columns);
  }
  slices[unit * n * columns + at] = value;
}

// Does magnify_slice() for each unit. Grid: blocks over the half-plane x units.
static __global__ void magnify_slices(const float2* __restrict__ in, int n, Magnification m,
                                      float2* __restrict__ out) {
  const int half = n / 2;
  const int columns = half + 1;
  const int at = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (at >= n * columns) return;
  const size_t slice = static_cast<size_t>(blockIdx.y) * n * columns;
  const int row = at / columns;
  const int kx = at - row * columns;
  const int ky = row < half ? row : row - n;
  const double y = m.yy * ky + m.yx * kx + half;
  const double x = m.xy * ky + m.xx * kx;
  float2 value = make_float2(0, 0);
  if (at > 0 && x >= 0 && x <= half && y >= 0 && y <= n - 1) {
    const int y0 = min(static_cast<int>(y), n - 2);
    const int x0 = min(static_cast<int>(x), half - 1);
    const auto ay = static_cast<float>(y - y0);
    const auto ax = static_cast<float>(x - x0);
    // Rows in ascending frequency are half-plane rows rotated by half their number.
    const float2* top = in + slice + (y0 + half) % n * columns + x0;
    const float2* bottom = in + slice + (y0 + 1 + half) % n * columns + x0;
    value = scaled(between(between(top[0], top[1], ax), between(bottom[0], bottom[1], ax), ay),
                   m.scale);
  }
  out[slice + at] = value;
}

__device__ inline float2 product(float2 a, float2 b) {
  return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

// Filters slices: slot s is unit s / planes with filter s % planes. Slots from `used` on become
// zeros, so that a plan always has defined inputs. Grid: blocks over the half-plane x slots.
static __global__ void filter_slices(const float2* __restrict__ slices,
                                     const float2* __restrict__ filters, int n, int planes,
                                     int used, float2* __restrict__ half_planes) {
  const int columns = n / 2 + 1;
  const int at = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (at >= n * columns) return;
  const auto slot = static_cast<int>(blockIdx.y);
  const size_t size = static_cast<size_t>(n) * columns;
  float2 value = make_float2(0, 0);
  if (slot < used) {
    const float2* slice = slices + static_cast<size_t>(slot / planes) * size;
    const float2* filter = filters + static_cast<size_t>(slot % planes) * size;
    value = product(slice[at], filter[at]);
    const int row = at / columns;
    const int column = at - row * columns;
    if (column == 0 || column == n / 2) {
      // In a real image's transform, columns 0 and n/2 are their own Friedel mates. Libraries treat
      // other values differently; as the reference does, this keeps the symmetric part only.
      const int mate = (n - row) % n * columns + column;
      const float2 other = product(slice[mate], filter[mate]);
      value = make_float2(0.5f * (value.x + other.x), 0.5f * (value.y - other.y));
    }
  }
  half_planes[static_cast<size_t>(slot) * size + at] = value;
}

}  // namespace engine::cuda
