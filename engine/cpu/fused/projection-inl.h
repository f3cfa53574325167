// Projections in real space, for the instruction set that is being compiled: an inverse real
// transform of two dimensions, columns before rows. The passes transform forward; with real and
// imaginary parts exchanged before and after, a forward transform is an inverse one.
#if defined(MARGAY_FUSED_PROJECTION_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MARGAY_FUSED_PROJECTION_INL_H
#undef MARGAY_FUSED_PROJECTION_INL_H
#else
#define MARGAY_FUSED_PROJECTION_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>

#include "engine/cpu/fused/blocks.h"
#include "engine/cpu/fused/line.h"
#include "engine/cpu/fused/passes-inl.h"
#include "engine/cpu/fused/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace engine::cpu::fused {
namespace HWY_NAMESPACE {

// Columns `begin` .. of the product of slice and filter, a point for each row, its parts exchanged.
inline void read_columns(const Projection& p, size_t begin, float* HWY_RESTRICT points) {
  const Floats d;
  const size_t columns = p.size / 2 + 1;
  for (size_t y = 0; y < p.size; ++y) {
    const size_t at = 2 * (y * columns + begin);
    const float* slice = p.slice + at;
    const float* filter = p.filter + at;
    HWY_ALIGN float last_of_slice[kPoint];
    HWY_ALIGN float last_of_filter[kPoint];
    if (begin + kLanes > columns) {
      const size_t floats = 2 * (columns - begin);
      std::fill(std::copy_n(slice, floats, last_of_slice), last_of_slice + kPoint, 0.0f);
      std::fill(std::copy_n(filter, floats, last_of_filter), last_of_filter + kPoint, 0.0f);
      slice = last_of_slice;
      filter = last_of_filter;
    }
    hn::Vec<Floats> slice_re, slice_im, filter_re, filter_im;
    hn::LoadInterleaved2(d, slice, slice_re, slice_im);
    hn::LoadInterleaved2(d, filter, filter_re, filter_im);
    const V re = hn::NegMulAdd(slice_im, filter_im, hn::Mul(slice_re, filter_re));
    const V im = hn::MulAdd(slice_im, filter_re, hn::Mul(slice_re, filter_im));
    store({im, re}, points + y * kPoint);
  }
}

// The transformed columns become points of rows: those of a block of rows lie one behind another.
inline void write_columns_as_rows(const Projection& p, size_t begin, size_t row_points,
                                  const float* HWY_RESTRICT working) {
  for (size_t row = 0; row < p.size; row += kLanes) {
    Tile re, im;
    for (size_t r = 0; r < kLanes; ++r) {
      const bool there = row + r < p.size;
      const Point point = there ? load(working + p.points[row + r] * kPoint) : zero_point();
      re[r] = point.im;
      im[r] = point.re;
    }
    transpose(re);
    transpose(im);
    float* out = p.between + (row / kLanes * row_points + begin) * kPoint;
    for (size_t c = 0; c < kLanes; ++c) store({re[c], im[c]}, out + c * kPoint);
  }
}

// Adds up the squares of the pixels of kLanes rows by Parseval's theorem, from the rows'
// frequencies 0 .. n/2.
class SquaresOfRows {
 public:
  HWY_INLINE SquaresOfRows()
      : re_(hn::Zero(Floats())), im_(hn::Zero(Floats())), real_(hn::Zero(Floats())) {}
  HWY_INLINE void add(const Point& frequency) {
    re_ = hn::MulAdd(frequency.re, frequency.re, re_);
    im_ = hn::MulAdd(frequency.im, frequency.im, im_);
  }
  // Adds a frequency that is its own mirror, and so real.
  HWY_INLINE void add_real(V frequency) { real_ = hn::MulAdd(frequency, frequency, real_); }
  HWY_INLINE void store(size_t n, float* to) const {
    const Floats d;
    const V all = hn::MulAdd(hn::Set(d, 2.0f), hn::Add(re_, im_), real_);
    hn::StoreU(hn::Mul(all, hn::Set(d, static_cast<float>(n))), d, to);
  }

 private:
  V re_, im_, real_;
};

// Two blocks of half-lines as one of whole lines, the second times i; parts exchanged. Frequencies
// that are their own mirrors count by their real parts, as those of a real line have no other.
inline void join_rows(size_t n, const float* HWY_RESTRICT first, const float* HWY_RESTRICT second,
                      float* HWY_RESTRICT squares_of_first, float* HWY_RESTRICT squares_of_second,
                      float* HWY_RESTRICT points) {
  SquaresOfRows of_first, of_second;
  for (size_t k = 0; k <= n / 2; ++k) {
    const Point a = load(first + k * kPoint);
    const Point b = second != nullptr ? load(second + k * kPoint) : zero_point();
    if (k == 0 || 2 * k == n) {
      of_first.add_real(a.re);
      of_second.add_real(b.re);
      store({b.re, a.re}, points + k * kPoint);
      continue;
    }
    of_first.add(a);
    of_second.add(b);
    store({hn::Add(a.im, b.re), hn::Sub(a.re, b.im)}, points + k * kPoint);
    store({hn::Sub(b.re, a.im), hn::Add(a.re, b.im)}, points + (n - k) * kPoint);
  }
  of_first.store(n, squares_of_first);
  if (second != nullptr) of_second.store(n, squares_of_second);
}

// Up to kLanes pixels of each row in the block, from column x of the projection on.
inline void write_rows(const Projection& p, Tile& tile, size_t block, size_t x) {
  const Floats d;
  const size_t n = p.size;
  transpose(tile);
  for (size_t r = 0; r < kLanes && block * kLanes + r < n; ++r) {
    float* out = p.out + (block * kLanes + r + n / 2) % n * n + x;
    if (x + kLanes <= n) {
      hn::StoreU(tile[r], d, out);
    } else {
      HWY_ALIGN float pixels[kLanes];
      hn::Store(tile[r], d, pixels);
      std::copy_n(pixels, n - x, out);
    }
  }
}

void projection(const Line& line, const Projection& p, float* working) {
  const size_t n = p.size;
  const size_t row_points = projection_row_points(n, kLanes);
  const size_t blocks = (n + kLanes - 1) / kLanes;
  float* points = working + line.working() * kPoint;
  for (size_t begin = 0; begin < n / 2 + 1; begin += kLanes) {
    read_columns(p, begin, points);
    forward_first(line, points, n, working);
    forward_parts(line, working);
    write_columns_as_rows(p, begin, row_points, working);
  }
  // A row is transformed together with another of the projection. Which one, its bits depend on, so
  // it is the same for vectors of any size.
  const size_t apart = (n / 2 + kTile - 1) / kTile * kTile / kLanes;
  for (size_t block = 0; block < std::min(apart, blocks); ++block) {
    const float* first = p.between + block * row_points * kPoint;
    const bool two = block + apart < blocks;
    float* squares = p.squares + block * kLanes;
    join_rows(n, first, two ? first + apart * row_points * kPoint : nullptr, squares,
              two ? squares + apart * kLanes : nullptr, points);
    forward_first(line, points, n, working);
    forward_parts(line, working);
    for (size_t x = 0; x < n; x += kLanes) {
      Tile of_first, of_second;
      for (size_t i = 0; i < kLanes; ++i) {
        const Point point = load(working + p.points[(x + i + n / 2) % n] * kPoint);
        of_first[i] = point.im;
        of_second[i] = point.re;
      }
      write_rows(p, of_first, block, x);
      if (two) write_rows(p, of_second, block + apart, x);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace engine::cpu::fused
HWY_AFTER_NAMESPACE();

#endif
