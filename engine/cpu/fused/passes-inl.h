// The passes of a transform over a block of lines, for the instruction set that is being compiled.
#if defined(MARGAY_FUSED_PASSES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MARGAY_FUSED_PASSES_INL_H
#undef MARGAY_FUSED_PASSES_INL_H
#else
#define MARGAY_FUSED_PASSES_INL_H
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>

#include "engine/cpu/fused/butterflies-inl.h"
#include "engine/cpu/fused/line.h"

HWY_BEFORE_NAMESPACE();
namespace engine::cpu::fused {
namespace HWY_NAMESPACE {

constexpr size_t kPoint = 2 * kLanes;  // floats of a point
constexpr size_t kCacheLine = 64 / sizeof(float);

// Calls body(radix) with a radix that the compiler knows.
template <class Body>
HWY_INLINE void with_radix(int radix, const Body& body) {
  switch (radix) {
    case 2:
      return body(std::integral_constant<size_t, 2>());
    case 3:
      return body(std::integral_constant<size_t, 3>());
    case 4:
      return body(std::integral_constant<size_t, 4>());
    case 5:
      return body(std::integral_constant<size_t, 5>());
    case 7:
      return body(std::integral_constant<size_t, 7>());
    case 8:
      return body(std::integral_constant<size_t, 8>());
    case 9:
      return body(std::integral_constant<size_t, 9>());
    default:
      return body(std::integral_constant<size_t, 16>());
  }
}

// Multiplies points 1 .. kRadix-1 by the roots at `roots`, or by their conjugates where kInverse.
template <bool kInverse, size_t kRadix>
HWY_INLINE void turn_by(const float* HWY_RESTRICT roots, Points<kRadix>& x) {
  const Floats d;
  unroll<kRadix - 1>(MARGAY_UNROLLED {
    x[index + 1] = times<kInverse>(x[index + 1], hn::Set(d, roots[2 * index]),
                                   hn::Set(d, roots[2 * index + 1]));
  });
}

// Does the first pass of a forward transform, from `count` points, behind which all are zero, into
// the line's parts.
template <size_t kRadix>
HWY_NOINLINE void first_forward(const Line& line, const float* HWY_RESTRICT from, size_t count,
                                float* HWY_RESTRICT working) {
  const size_t step = line.part;
  const size_t stride = line.part_stride() * kPoint;
  const float* roots = line.passes.front().roots.data();
  const auto butterflies = [&](size_t begin, size_t end, size_t inputs) HWY_ATTR
      __attribute__((always_inline)) {
    for (size_t j = begin; j < end; ++j) {
      Points<kRadix> x;
      unroll<kRadix>(MARGAY_UNROLLED {
        x[index] = index < inputs ? load(from + (j + index * step) * kPoint) : zero_point();
      });
      transform_first(inputs, x);
      if (step > 1) turn_by<false, kRadix>(roots + 2 * (kRadix - 1) * j, x);
      float* to = working + j * kPoint;
      unroll<kRadix>(MARGAY_UNROLLED { store(x[index], to + index * stride); });
    }
  };
  // Butterflies up to `full` have one input more than the others among the `count` points.
  const size_t inputs = (count + step - 1) / step;
  const size_t full = count - (inputs - 1) * step;
  butterflies(0, full, inputs);
  butterflies(full, step, inputs - 1);
}

// Does butterfly j of the last pass of an inverse transform: `x` becomes points j, j + part, ...
template <size_t kRadix>
HWY_INLINE void last_butterfly(const Line& line, const float* HWY_RESTRICT working, size_t j,
                               Points<kRadix>& x) {
  const size_t stride = line.part_stride() * kPoint;
  unroll<kRadix>(MARGAY_UNROLLED { x[index] = load(working + j * kPoint + index * stride); });
  if (line.part > 1) {
    turn_by<true, kRadix>(line.passes.front().roots.data() + 2 * (kRadix - 1) * j, x);
  }
  transform<true, kRadix>(x);
}

// Does the last pass of an inverse transform for butterflies begin .. begin + count - 1: point
// begin + i + k x part goes to out[k x count + i].
template <size_t kRadix>
HWY_NOINLINE void last_inverse(const Line& line, const float* HWY_RESTRICT working, size_t begin,
                               size_t count, float* HWY_RESTRICT out) {
  for (size_t i = 0; i < count; ++i) {
    Points<kRadix> x;
    last_butterfly<kRadix>(line, working, begin + i, x);
    unroll<kRadix>(MARGAY_UNROLLED { store(x[index], out + (index * count + i) * kPoint); });
  }
}

// Does a pass within a part, in place. With kTurned, points are multiplied by roots, as a step of
// more than 1 needs.
template <bool kInverse, size_t kRadix, bool kTurned>
HWY_NOINLINE void inner_pass(const Pass& pass, size_t points, float* HWY_RESTRICT part) {
  const size_t step = kTurned ? pass.step : 1;
  const float* roots = pass.roots.data();
  for (size_t block = 0; block < points; block += kRadix * step) {
    for (size_t j = 0; j < step; ++j) {
      float* at = part + (block + j) * kPoint;
      Points<kRadix> x;
      unroll<kRadix>(MARGAY_UNROLLED { x[index] = load(at + index * step * kPoint); });
      if (kInverse && kTurned) turn_by<true, kRadix>(roots + 2 * (kRadix - 1) * j, x);
      transform<kInverse, kRadix>(x);
      if (!kInverse && kTurned) turn_by<false, kRadix>(roots + 2 * (kRadix - 1) * j, x);
      unroll<kRadix>(MARGAY_UNROLLED { store(x[index], at + index * step * kPoint); });
    }
  }
}

// Returns conj(a) x b.
HWY_INLINE Point conjugate_times(const Point& a, const Point& b) {
  return {hn::MulAdd(a.im, b.im, hn::Mul(a.re, b.re)),
          hn::NegMulAdd(a.im, b.re, hn::Mul(a.re, b.im))};
}

// Does the last forward pass, multiplies the conjugate by `image`, and does the first inverse pass.
template <size_t kRadix>
HWY_NOINLINE void product_pass(size_t points, const float* HWY_RESTRICT image,
                               float* HWY_RESTRICT part) {
  // The image comes from the second cache. Two butterflies are about as long as a fetch takes; the
  // last fetches are of the next part's points, or of nothing that is needed.
  constexpr size_t kAhead = 2 * kRadix * kPoint;
  for (size_t block = 0; block < points; block += kRadix) {
    float* at = part + block * kPoint;
    const float* by = image + block * kPoint;
    for (size_t i = 0; i < kRadix * kPoint; i += kCacheLine) hwy::Prefetch(by + kAhead + i);
    Points<kRadix> x;
    unroll<kRadix>(MARGAY_UNROLLED { x[index] = load(at + index * kPoint); });
    transform<false, kRadix>(x);
    unroll<kRadix>(
        MARGAY_UNROLLED { x[index] = conjugate_times(x[index], load(by + index * kPoint)); });
    transform<true, kRadix>(x);
    unroll<kRadix>(MARGAY_UNROLLED { store(x[index], at + index * kPoint); });
  }
}

inline void multiply_points(size_t points, const float* image, float* part) {
  for (size_t i = 0; i < points * kPoint; i += kPoint) {
    store(conjugate_times(load(part + i), load(image + i)), part + i);
  }
}

template <bool kInverse>
void run_inner(const Pass& pass, size_t points, float* part) {
  with_radix(pass.radix, [&](auto radix) {
    // Radix 16 comes last (lengths.h), where the step is 1.
    if constexpr (radix != 16) {
      if (pass.step > 1) return inner_pass<kInverse, radix, true>(pass, points, part);
    }
    inner_pass<kInverse, radix, false>(pass, points, part);
  });
}

inline void forward_parts(const Line& line, float* working) {
  for (size_t p = 0; p < line.parts; ++p) {
    float* part = working + p * line.part_stride() * kPoint;
    for (size_t i = 1; i < line.passes.size(); ++i) {
      run_inner<false>(line.passes[i], line.part, part);
    }
  }
}

inline void inverse_part(const Line& line, float* part) {
  for (size_t i = line.passes.size() - 1; i > 0; --i) {
    run_inner<true>(line.passes[i], line.part, part);
  }
}

// Does the forward passes within a part, the product with `image`, and the inverse passes.
inline void correlate_part(const Line& line, const float* image, float* part) {
  const size_t last = line.passes.size() - 1;
  if (last == 0) return multiply_points(line.part, image, part);
  for (size_t i = 1; i < last; ++i) run_inner<false>(line.passes[i], line.part, part);
  with_radix(line.passes[last].radix,
             [&](auto radix) { product_pass<radix>(line.part, image, part); });
  for (size_t i = last - 1; i > 0; --i) run_inner<true>(line.passes[i], line.part, part);
}

inline void forward_first(const Line& line, const float* from, size_t count, float* working) {
  with_radix(line.passes.front().radix,
             [&](auto radix) { first_forward<radix>(line, from, count, working); });
}

// Does the last pass of an inverse transform, kLanes butterflies at a time, and passes each result
// to take(begin, count, points), laid out as by last_inverse().
template <class Take>
HWY_INLINE void inverse_last(const Line& line, const float* working, float* scratch,
                             const Take& take) {
  for (size_t begin = 0; begin < line.part; begin += kLanes) {
    const size_t count = std::min(kLanes, line.part - begin);
    with_radix(line.passes.front().radix,
               [&](auto radix) { last_inverse<radix>(line, working, begin, count, scratch); });
    take(begin, count, scratch);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace engine::cpu::fused
HWY_AFTER_NAMESPACE();

#endif
