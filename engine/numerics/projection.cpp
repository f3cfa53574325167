#include "engine/numerics/projection.h"

#include <algorithm>
#include <cmath>

namespace engine {
namespace {

using Value = std::complex<float>;

// Coordinates this near to a plane of the volume lie on it: rounding must not lose samples.
constexpr double kOnPlane = 1e-5;

struct Lattice {
  const Value* data;
  int n;

  const Value* row(int z, int y) const {
    const auto size = static_cast<size_t>(n);
    return data + (static_cast<size_t>(z) * size + static_cast<size_t>(y)) * (size / 2 + 1);
  }

  // Trilinear at (z, y, x); 0 outside.
  Value at(double z, double y, double x) const {
    if (z < 0 || z > n - 1 || y < 0 || y > n - 1 || x > n / 2) return {0, 0};
    const int z0 = std::min(static_cast<int>(z), n - 2);
    const int y0 = std::min(static_cast<int>(y), n - 2);
    const int x0 = std::min(static_cast<int>(x), n / 2 - 1);
    const auto az = static_cast<float>(z - z0);
    const auto ay = static_cast<float>(y - y0);
    const auto ax = static_cast<float>(x - x0);
    const auto line = [&](int zz, int yy) {
      const Value* r = row(zz, yy) + x0;
      return r[0] * (1 - ax) + r[1] * ax;
    };
    const Value low = line(z0, y0) * (1 - ay) + line(z0, y0 + 1) * ay;
    const Value high = line(z0 + 1, y0) * (1 - ay) + line(z0 + 1, y0 + 1) * ay;
    return low * (1 - az) + high * az;
  }
};

double clamp_near(double value, double bound) {
  return std::abs(value - bound) < kOnPlane ? bound : value;
}

double chop(double value) { return std::abs(value) < 1e-8 ? 0.0 : value; }

}  // namespace

void extract_slice(const Value* volume, int n, const Rotation& rotation, Value* slice,
                   bool keep_zero_frequency) {
  const Lattice lattice{volume, n};
  Rotation r = rotation;
  for (double& element : r) element = chop(element);
  const int half = n / 2;
  const size_t columns = static_cast<size_t>(half) + 1;
  const bool negative_axis = r[0] < 0 || (r[0] == 0 && r[1] < 0);
  for (int row = 0; row < n; ++row) {
    const int ky = row < half ? row : row - n;
    Value* out = slice + static_cast<size_t>(row) * columns;
    for (int kx = 0; kx <= half; ++kx) {
      double x = r[0] * kx + r[1] * ky;
      double y = r[3] * kx + r[4] * ky;
      double z = r[6] * kx + r[7] * ky;
      const bool on_plane = std::abs(x) < kOnPlane;
      if (on_plane) x = 0;
      // The half with negative x is not stored: read the Friedel mate.
      const bool mate = x < 0 || (on_plane && negative_axis);
      if (mate) {
        x = -x;
        y = -y;
        z = -z;
      }
      const Value v = lattice.at(clamp_near(clamp_near(z + half, 0), n - 1),
                                 clamp_near(clamp_near(y + half, 0), n - 1), clamp_near(x, half));
      out[kx] = mate ? -std::conj(v) : -v;
    }
  }
  if (!keep_zero_frequency) slice[0] = {0, 0};
}

void magnify_slice(const FrequencyTransform& t, int n, Value* slice, std::vector<Value>& scratch) {
  const int half = n / 2;
  const size_t columns = static_cast<size_t>(half) + 1;
  scratch.assign(slice, slice + static_cast<size_t>(n) * columns);
  // Rows in ascending frequency are half-plane rows rotated by half their number.
  const auto value = [&](int shifted_row, int column) {
    const auto row = static_cast<size_t>((shifted_row + half) % n);
    return scratch[row * columns + static_cast<size_t>(column)];
  };
  const auto scale = static_cast<float>(1.0 / t.determinant);
  for (int row = 0; row < n; ++row) {
    const double ky = row < half ? row : row - n;
    for (int column = 0; column <= half; ++column) {
      const double y = t.yy * ky + t.yx * column + half;
      const double x = t.xy * ky + t.xx * column;
      Value& out = slice[static_cast<size_t>(row) * columns + static_cast<size_t>(column)];
      if (x < 0 || x > half || y < 0 || y > n - 1) {
        out = {0, 0};
        continue;
      }
      const int y0 = std::min(static_cast<int>(y), n - 2);
      const int x0 = std::min(static_cast<int>(x), half - 1);
      const auto ay = static_cast<float>(y - y0);
      const auto ax = static_cast<float>(x - x0);
      const Value top = value(y0, x0) * (1 - ax) + value(y0, x0 + 1) * ax;
      const Value bottom = value(y0 + 1, x0) * (1 - ax) + value(y0 + 1, x0 + 1) * ax;
      out = (top * (1 - ay) + bottom * ay) * scale;
    }
  }
  slice[0] = {0, 0};
}

void centre_projection(const float* back_transform, int n, float* projection) {
  const int half = n / 2;
  const auto size = static_cast<size_t>(n);
  for (int row = 0; row < n; ++row) {
    const float* in = back_transform + static_cast<size_t>((row + half) % n) * size;
    float* out = projection + static_cast<size_t>(row) * size;
    std::copy(in + half, in + n, out);
    std::copy(in, in + half, out + half);
  }
}

void mirror_projection(const float* projection, int n, float* mirrored) {
  const auto size = static_cast<size_t>(n);
  for (int row = 0; row < n; ++row) {
    const float* in = projection + static_cast<size_t>((n - row) % n) * size;
    float* out = mirrored + static_cast<size_t>(row) * size;
    out[0] = in[0];
    std::reverse_copy(in + 1, in + n, out + 1);
  }
}

void normalise_projection(float* p, int n, int height, int width, double scale) {
  const auto size = static_cast<size_t>(n);
  const auto pixels = size * size;
  double edge = 0;
  for (size_t i = 0; i < size; ++i) {
    edge += p[i];
    edge += p[(size - 1) * size + i];
  }
  for (size_t row = 1; row + 1 < size; ++row) {
    edge += p[row * size];
    edge += p[row * size + size - 1];
  }
  edge /= 4.0 * n - 4.0;
  double sum = 0;
  double squares = 0;
  for (size_t i = 0; i < pixels; ++i) {
    const double value = p[i] - edge;
    sum += value;
    squares += value * value;
  }
  const double image_pixels = static_cast<double>(height) * width;
  const double box = static_cast<double>(pixels);
  // The reference scales the mean by the area ratio twice, and its count of padded pixels is not
  // exact; both are kept, at under 2e-4 of the correlation.
  const double ratio = box / image_pixels;
  const double mean = sum / box * ratio * ratio;
  const double variance = squares - 2.0 * mean * sum + box * mean * mean +
                          static_cast<double>(height - n) * (width - n) * mean * mean;
  // An empty projection stays empty. The floor is far below a faint template's variance, so that
  // the scale of its density does not matter.
  const double factor = std::sqrt(image_pixels) / std::sqrt(std::max(variance, 1e-60)) * scale;
  for (size_t i = 0; i < pixels; ++i) {
    p[i] = static_cast<float>((p[i] - edge) * factor);
  }
}

}  // namespace engine
