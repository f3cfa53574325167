// Implements fft.h and fft_plan.h with kissfft, in double precision (what is float32 is rounded to
// it between the directions): for programs that are distributed under Margay's own licence. FFTW's
// is another (packaging/FFTW.txt).
#include "engine/numerics/fft.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <kissfft/kissfft.hh>
#include <numbers>
#include <optional>

#include "base/huge_pages.h"
#include "engine/numerics/fft_plan.h"

namespace engine {
namespace {

using Number = std::complex<double>;
using Numbers = std::vector<Number>;

size_t largest_factor(size_t length) {
  size_t largest = 1;
  for (size_t factor = 2; length > 1; ++factor) {
    for (; length % factor == 0; length /= factor) largest = factor;
  }
  return largest;
}

// Transforms lines whose length has a large prime factor p, for which kissfft takes p steps for
// each point: by Bluestein's convolution with a chirp, whose length is a power of 2. (L. Bluestein,
// IEEE Trans. Audio Electroacoust. 18 (1970) 451.)
class ChirpTransform {
 public:
  ChirpTransform(size_t length, bool inverse)
      : chirp_(length),
        convolution_(std::bit_ceil(2 * length)),
        forward_(convolution_, false),
        inverse_(convolution_, true),
        in_(convolution_),
        out_(convolution_),
        kernel_(convolution_) {
    for (size_t k = 0; k < length; ++k) {
      // k^2 / 2 turns of the line's length.
      const double turns =
          static_cast<double>(k * k % (2 * length)) / (2.0 * static_cast<double>(length));
      chirp_[k] = std::polar(1.0, (inverse ? 2 : -2) * std::numbers::pi * turns);
      in_[k] = std::conj(chirp_[k]);
      if (k > 0) in_[convolution_ - k] = in_[k];
    }
    forward_.transform(in_.data(), kernel_.data());
  }

  void transform(const Number* line, Number* result) {
    std::fill(in_.begin(), in_.end(), Number());
    for (size_t k = 0; k < chirp_.size(); ++k) in_[k] = line[k] * chirp_[k];
    forward_.transform(in_.data(), out_.data());
    const double scale = 1.0 / static_cast<double>(convolution_);
    for (size_t k = 0; k < convolution_; ++k) in_[k] = out_[k] * kernel_[k] * scale;
    inverse_.transform(in_.data(), out_.data());
    for (size_t k = 0; k < chirp_.size(); ++k) result[k] = out_[k] * chirp_[k];
  }

 private:
  Numbers chirp_;
  size_t convolution_;
  kissfft<double> forward_, inverse_;
  Numbers in_, out_, kernel_;
};

// One thread's transform of lines of one length. kissfft keeps working memory of its own in the
// object, so that threads cannot share one.
class LineTransform {
 public:
  LineTransform(size_t length, bool inverse) : in_(length), out_(length) {
    constexpr size_t kMostSteps = 23;
    if (largest_factor(length) > kMostSteps) {
      chirp_.emplace(length, inverse);
    } else {
      plain_.emplace(length, inverse);
    }
  }

  size_t length() const { return in_.size(); }
  Number& operator[](size_t i) { return in_[i]; }
  // The transform of what was written through operator[].
  const Numbers& compute() {
    if (chirp_) {
      chirp_->transform(in_.data(), out_.data());
    } else {
      plain_->transform(in_.data(), out_.data());
    }
    return out_;
  }

 private:
  std::optional<kissfft<double>> plain_;
  std::optional<ChirpTransform> chirp_;
  Numbers in_, out_;
};

// The half-lines of two real lines, which are read together as one complex line.
// put(line 0 or 1, frequency, value).
template <typename Real, typename Put>
void forward_two(LineTransform& line, const Real* first, const Real* second, const Put& put) {
  const size_t n = line.length();
  for (size_t x = 0; x < n; ++x) line[x] = {first[x], second != nullptr ? second[x] : Real(0)};
  const Numbers& sum = line.compute();
  for (size_t k = 0; k <= n / 2; ++k) {
    const Number here = sum[k];
    const Number there = std::conj(sum[(n - k) % n]);
    put(0, k, 0.5 * (here + there));
    const Number difference = 0.5 * (here - there);
    put(1, k, Number(difference.imag(), -difference.real()));
  }
}

// The two real lines of two half-lines. Frequencies that are their own mirrors count by their real
// parts, as those of a real line have no other. take(line 0 or 1, frequency); put(line, x, value).
template <typename Take, typename Put>
void inverse_two(LineTransform& line, const Take& take, const Put& put) {
  const size_t n = line.length();
  for (size_t k = 0; k <= n / 2; ++k) {
    const Number a = take(0, k);
    const Number b = take(1, k);
    const size_t mirror = (n - k) % n;
    if (mirror == k) {
      line[k] = {a.real(), b.real()};
    } else {
      line[k] = {a.real() - b.imag(), a.imag() + b.real()};
      line[mirror] = {a.real() + b.imag(), b.real() - a.imag()};
    }
  }
  const Numbers& both = line.compute();
  for (size_t x = 0; x < n; ++x) {
    put(0, x, both[x].real());
    put(1, x, both[x].imag());
  }
}

// Transforms lines of values that are `stride` apart, in place, `lines` neighbours of them. Several
// are copied at once, since neighbours share lines of the cache.
template <typename Stored>
void transform_across(LineTransform& line, Stored* values, size_t stride, size_t lines) {
  constexpr size_t kAtOnce = 16;
  const size_t n = line.length();
  std::vector<Stored> copies(kAtOnce * n);
  for (size_t begin = 0; begin < lines; begin += kAtOnce) {
    const size_t count = std::min(kAtOnce, lines - begin);
    for (size_t y = 0; y < n; ++y) {
      for (size_t c = 0; c < count; ++c) copies[c * n + y] = values[y * stride + begin + c];
    }
    for (size_t c = 0; c < count; ++c) {
      for (size_t y = 0; y < n; ++y) line[y] = Number(copies[c * n + y]);
      const Numbers& out = line.compute();
      for (size_t y = 0; y < n; ++y) copies[c * n + y] = Stored(out[y]);
    }
    for (size_t y = 0; y < n; ++y) {
      for (size_t c = 0; c < count; ++c) values[y * stride + begin + c] = copies[c * n + y];
    }
  }
}

// `rows` lines of `width` real values, one after the other, into half-lines.
template <typename Real, typename Stored>
void forward_rows(const Real* in, size_t rows, size_t width, Stored* out) {
  LineTransform line(width, false);
  const size_t columns = width / 2 + 1;
  for (size_t y = 0; y < rows; y += 2) {
    const bool two = y + 1 < rows;
    forward_two(line, in + y * width, two ? in + (y + 1) * width : nullptr,
                [&](size_t which, size_t k, const Number& value) {
                  if (which == 0 || two) out[(y + which) * columns + k] = Stored(value);
                });
  }
}

// The inverse real transform of a half-plane, unnormalised, which it destroys.
template <typename Stored, typename Real>
void inverse_plane(Stored* half_plane, size_t height, size_t width, Real* out) {
  const size_t columns = width / 2 + 1;
  LineTransform across(height, true);
  transform_across(across, half_plane, columns, columns);
  LineTransform along(width, true);
  for (size_t y = 0; y < height; y += 2) {
    const bool two = y + 1 < height;
    inverse_two(
        along,
        [&](size_t which, size_t k) {
          return which == 0 || two ? Number(half_plane[(y + which) * columns + k]) : Number();
        },
        [&](size_t which, size_t x, double value) {
          if (which == 0 || two) out[(y + which) * width + x] = static_cast<Real>(value);
        });
  }
}

}  // namespace

std::vector<std::complex<double>> forward_2d(const Image& image) {
  const auto height = static_cast<size_t>(image.height);
  const auto width = static_cast<size_t>(image.width);
  const size_t columns = width / 2 + 1;
  Numbers out(height * columns);
  forward_rows(image.pixels.data(), height, width, out.data());
  LineTransform across(height, false);
  transform_across(across, out.data(), columns, columns);
  return out;
}

std::vector<double> inverse_2d(std::vector<std::complex<double>> spectrum, int height, int width) {
  std::vector<double> out(static_cast<size_t>(height) * static_cast<size_t>(width));
  inverse_plane(spectrum.data(), static_cast<size_t>(height), static_cast<size_t>(width),
                out.data());
  const double scale = 1.0 / (static_cast<double>(height) * width);
  for (double& value : out) value *= scale;
  return out;
}

std::vector<std::complex<float>> forward_3d(const std::vector<float>& values, int size) {
  const auto n = static_cast<size_t>(size);
  const size_t columns = n / 2 + 1;
  std::vector<std::complex<float>> out;
  base::resize_in_huge_pages(out, n * n * columns);
  forward_rows(values.data(), n * n, n, out.data());
  LineTransform line(n, false);
  for (size_t z = 0; z < n; ++z) {
    transform_across(line, out.data() + z * n * columns, columns, columns);
  }
  transform_across(line, out.data(), n * columns, n * columns);
  return out;
}

FftLibrary fft_library() { return {.name = "kissfft", .version = MARGAY_KISSFFT_VERSION}; }

namespace cpu {
namespace {

struct KissPlan {
  size_t length;
  bool inverse;
};

const KissPlan& plan_at(const PlanHandle& handle) {
  return *static_cast<const KissPlan*>(handle.get());
}

}  // namespace

void DestroyPlan::operator()(void* plan) const { delete static_cast<KissPlan*>(plan); }

// In a build without FFTW only tests transform lines one by one.
LinePlan::LinePlan(int length, Direction direction)
    : plan_(new KissPlan{static_cast<size_t>(length), direction == Direction::kInverse}) {}

void LinePlan::execute(const Complex* in, Complex* out) const {
  const KissPlan& plan = plan_at(plan_);
  LineTransform line(plan.length, plan.inverse);
  for (size_t x = 0; x < plan.length; ++x) line[x] = Number(in[x]);
  const Numbers& result = line.compute();
  for (size_t x = 0; x < plan.length; ++x) out[x] = Complex(result[x]);
}

ProjectionPlan::ProjectionPlan(int n) : plan_(new KissPlan{static_cast<size_t>(n), true}) {}

void ProjectionPlan::execute(Complex* half_plane, float* out) const {
  const size_t n = plan_at(plan_).length;
  inverse_plane(half_plane, n, n, out);
}

}  // namespace cpu
}  // namespace engine
