#include "engine/numerics/projection.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace engine {
namespace {

using Value = std::complex<float>;

// Coordinates this near to a plane of the volume lie on it: rounding must not lose samples.
constexpr double kOnPlane = 1e-5;

// Four floats of one vector: two complex values.
using Pair = float __attribute__((vector_size(16)));

// A sample of the volume, interpolated between the eight points about it.
struct Sample {
  const Value* corner = nullptr;  // the point with the lowest coordinates; null outside the volume
  float az = 0, ay = 0, ax = 0;   // from there, in points
  bool mate = false;              // the Friedel mate of the value that is asked for
};

struct Lattice {
  const Value* data;
  int n;

  size_t row_length() const { return static_cast<size_t>(n) / 2 + 1; }
  size_t plane() const { return static_cast<size_t>(n) * row_length(); }

  // Finds the sample at (z, y, x), and prefetches its points.
  Sample find(double z, double y, double x, bool mate) const {
    if (z < 0 || z > n - 1 || y < 0 || y > n - 1 || x > n / 2) return {.mate = mate};
    const int z0 = std::min(static_cast<int>(z), n - 2);
    const int y0 = std::min(static_cast<int>(y), n - 2);
    const int x0 = std::min(static_cast<int>(x), n / 2 - 1);
    const Value* corner = data + static_cast<size_t>(z0) * plane() +
                          static_cast<size_t>(y0) * row_length() + static_cast<size_t>(x0);
    for (const size_t offset : {size_t{0}, row_length(), plane(), plane() + row_length()}) {
      __builtin_prefetch(corner + offset);
    }
    return {corner, static_cast<float>(z - z0), static_cast<float>(y - y0),
            static_cast<float>(x - x0), mate};
  }

  Value interpolate(const Sample& s) const {
    if (s.corner == nullptr) return {0, 0};
    const Pair along_x{1 - s.ax, 1 - s.ax, s.ax, s.ax};
    // Of both planes at the same y.
    const auto lines = [&](const Value* low, const Value* high) {
      const Pair a = load(low) * along_x, b = load(high) * along_x;
      return Pair{a[0], a[1], b[0], b[1]} + Pair{a[2], a[3], b[2], b[3]};
    };
    const Value* next = s.corner + row_length();
    const Pair planes =
        lines(s.corner, s.corner + plane()) * (1 - s.ay) + lines(next, next + plane()) * s.ay;
    const Pair along_z = planes * Pair{1 - s.az, 1 - s.az, s.az, s.az};
    return {along_z[0] + along_z[2], along_z[1] + along_z[3]};
  }

 private:
  static Pair load(const Value* from) {
    Pair loaded;
    std::memcpy(&loaded, from, sizeof loaded);
    return loaded;
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
  // Many samples are looked up before the first is read, so that they are fetched together.
  constexpr int kTogether = 64;
  std::array<Sample, kTogether> samples;
  for (int row = 0; row < n; ++row) {
    const int ky = row < half ? row : row - n;
    Value* out = slice + static_cast<size_t>(row) * columns;
    for (int begin = 0; begin <= half; begin += kTogether) {
      const int count = std::min(kTogether, half + 1 - begin);
      for (int i = 0; i < count; ++i) {
        const int kx = begin + i;
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
        samples[static_cast<size_t>(i)] =
            lattice.find(clamp_near(clamp_near(z + half, 0), n - 1),
                         clamp_near(clamp_near(y + half, 0), n - 1), clamp_near(x, half), mate);
      }
      for (int i = 0; i < count; ++i) {
        const Sample& sample = samples[static_cast<size_t>(i)];
        const Value v = lattice.interpolate(sample);
        out[begin + i] = sample.mate ? -std::conj(v) : -v;
      }
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

Normalisations normalisations_of(const float* projection, double squares, int n, int height,
                                 int width, double scale) {
  const auto size = static_cast<size_t>(n);
  const double box = static_cast<double>(n) * n;
  const double image_pixels = static_cast<double>(height) * width;
  const double ratio = box / image_pixels;
  // The border has the rows and columns 0 and `other`.
  const auto of_border = [&](size_t other) {
    const auto pixel = [&](size_t row, size_t column) {
      return static_cast<double>(projection[row * size + column]);
    };
    double edge = 0;
    for (size_t i = 0; i < size; ++i) edge += pixel(0, i) + pixel(other, i);
    for (size_t i = 0; i < size; ++i) {
      if (i != 0 && i != other) edge += pixel(i, 0) + pixel(i, other);
    }
    edge /= 4.0 * n - 4.0;
    // The mean of p - edge is -edge. The reference scales it by the area ratio twice, and its count
    // of padded pixels is not exact; both are kept, at under 2e-4 of the correlation.
    const double mean = -edge * ratio * ratio;
    const double variance = squares + box * (edge + mean) * (edge + mean) +
                            static_cast<double>(height - n) * (width - n) * mean * mean;
    // An empty projection stays empty. The floor is far below a faint template's variance, so that
    // the scale of its density does not matter.
    return Normalisation{edge,
                         std::sqrt(image_pixels) / std::sqrt(std::max(variance, 1e-60)) * scale};
  };
  return {of_border(size - 1), of_border(1)};
}

}  // namespace engine
