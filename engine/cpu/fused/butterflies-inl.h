// Transforms of 2 to 16 points in registers, for the instruction set that is being compiled. All
// come from one template, which splits a composite length into two factors.
#if defined(MARGAY_FUSED_BUTTERFLIES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MARGAY_FUSED_BUTTERFLIES_INL_H
#undef MARGAY_FUSED_BUTTERFLIES_INL_H
#else
#define MARGAY_FUSED_BUTTERFLIES_INL_H
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <utility>

#include "engine/cpu/fused/lengths.h"
#include "engine/cpu/fused/roots.h"

HWY_BEFORE_NAMESPACE();
namespace engine::cpu::fused {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
// Vectors of 16 lanes are for processors that compute all of them at once (kernels.cpp): elsewhere
// they would only make the blocks too large for the level-2 cache.
constexpr size_t kMostLanes = HWY_TARGET <= HWY_AVX3_DL ? 16 : 8;  // the better, the lower
static_assert(kTile % kMostLanes == 0);
using Floats = hn::CappedTag<float, kMostLanes>;
#if HWY_TARGET == HWY_SVE_256
// Only vectors of a size that the compiler knows can be in arrays.
using V = hn::Vec<Floats> __attribute__((arm_sve_vector_bits(256)));
#else
using V = hn::Vec<Floats>;
#endif
constexpr size_t kLanes = hn::MaxLanes(Floats());

// The same point of several lines, one in each lane.
struct Point {
  V re;
  V im;
};

template <size_t... kIndices, class Body>
HWY_INLINE void unrolled(std::index_sequence<kIndices...>, const Body& body) {
  (body(std::integral_constant<size_t, kIndices>()), ...);
}
// Calls body(0), body(1), ..., with indices that the compiler knows.
template <size_t kCount, class Body>
HWY_INLINE void unroll(const Body& body) {
  unrolled(std::make_index_sequence<kCount>(), body);
}
#define MARGAY_UNROLLED [&](auto index) HWY_ATTR __attribute__((always_inline))

HWY_INLINE Point load(const float* from) {
  const Floats d;
  return {hn::Load(d, from), hn::Load(d, from + kLanes)};
}
HWY_INLINE void store(const Point& p, float* to) {
  const Floats d;
  hn::Store(p.re, d, to);
  hn::Store(p.im, d, to + kLanes);
}
// Stores past the caches.
HWY_INLINE void stream(const Point& p, float* to) {
  const Floats d;
  hn::Stream(p.re, d, to);
  hn::Stream(p.im, d, to + kLanes);
}
HWY_INLINE Point zero_point() { return {hn::Zero(Floats()), hn::Zero(Floats())}; }

HWY_INLINE Point operator+(const Point& a, const Point& b) {
  return {hn::Add(a.re, b.re), hn::Add(a.im, b.im)};
}
HWY_INLINE Point operator-(const Point& a, const Point& b) {
  return {hn::Sub(a.re, b.re), hn::Sub(a.im, b.im)};
}

// Returns p x (re + i im), or p x (re - i im) where kConjugate.
template <bool kConjugate>
HWY_INLINE Point times(const Point& p, V re, V im) {
  if constexpr (kConjugate) {
    return {hn::MulAdd(p.im, im, hn::Mul(p.re, re)), hn::NegMulAdd(p.re, im, hn::Mul(p.im, re))};
  } else {
    return {hn::NegMulAdd(p.im, im, hn::Mul(p.re, re)), hn::MulAdd(p.re, im, hn::Mul(p.im, re))};
  }
}

// Returns p x -i in a forward transform, p x i in an inverse one.
template <bool kInverse>
HWY_INLINE Point quarter_turn(const Point& p) {
  if constexpr (kInverse) return {hn::Neg(p.im), p.re};
  return {p.im, hn::Neg(p.re)};
}

// Returns p x exp(-2 pi i kNumerator / kOf); in an inverse transform p times the conjugate.
template <bool kInverse, size_t kNumerator, size_t kOf>
HWY_INLINE Point turned(const Point& p) {
  constexpr size_t kTurn = kNumerator % kOf;
  const Floats d;
  if constexpr (kTurn == 0) {
    return p;
  } else if constexpr (4 * kTurn == kOf) {
    return quarter_turn<kInverse>(p);
  } else if constexpr (8 * kTurn == kOf) {
    const V half = hn::Set(d, root_of_unity(1, 8).re);
    if constexpr (kInverse) {
      return {hn::Mul(hn::Sub(p.re, p.im), half), hn::Mul(hn::Add(p.im, p.re), half)};
    }
    return {hn::Mul(hn::Add(p.re, p.im), half), hn::Mul(hn::Sub(p.im, p.re), half)};
  } else {
    constexpr Root kRoot = root_of_unity(kTurn, kOf);
    return times<kInverse>(p, hn::Set(d, kRoot.re), hn::Set(d, kRoot.im));
  }
}

// An array whose element accesses are always inlined, unlike those of std::array.
template <class T, size_t kCount>
struct Array {
  T values[kCount];
  HWY_INLINE T& operator[](size_t i) { return values[i]; }
};
template <size_t kRadix>
using Points = Array<Point, kRadix>;

constexpr size_t first_factor(size_t radix) {
  switch (radix) {
    case 16:
      return 4;
    case 9:
      return 3;
    case 8:
      return 4;
    default:
      return radix;
  }
}

template <bool kInverse, size_t kRadix>
HWY_INLINE void transform(Points<kRadix>& x);

template <bool kInverse>
HWY_INLINE void transform_4(Points<4>& x) {
  const Point even = x[0] + x[2], even_less = x[0] - x[2];
  const Point odd = x[1] + x[3], odd_less = x[1] - x[3];
  x[0] = even + odd;
  x[2] = even - odd;
  const Point ahead{hn::Add(even_less.re, odd_less.im), hn::Sub(even_less.im, odd_less.re)};
  const Point behind{hn::Sub(even_less.re, odd_less.im), hn::Add(even_less.im, odd_less.re)};
  x[1] = kInverse ? behind : ahead;
  x[3] = kInverse ? ahead : behind;
}

// Transforms an odd prime length, computing points k and kRadix - k together.
template <bool kInverse, size_t kRadix>
HWY_INLINE void transform_odd(Points<kRadix>& x) {
  constexpr size_t kPairs = kRadix / 2;
  const Floats d;
  const Point first = x[0];
  Points<kPairs> sums, differences;
  unroll<kPairs>(MARGAY_UNROLLED {
    sums[index] = x[index + 1] + x[kRadix - 1 - index];
    differences[index] = x[index + 1] - x[kRadix - 1 - index];
  });
  unroll<kPairs>(MARGAY_UNROLLED { x[0] = x[0] + sums[index]; });
  unroll<kPairs>(MARGAY_UNROLLED {
    constexpr size_t kOut = index + 1;
    Point cosines = first;
    Point sines = zero_point();
    unroll<kPairs>([&](auto of) HWY_ATTR __attribute__((always_inline)) {
      constexpr Root kRoot = root_of_unity(kOut * (of + 1) % kRadix, kRadix);
      const V re = hn::Set(d, kRoot.re), im = hn::Set(d, kInverse ? -kRoot.im : kRoot.im);
      cosines = {hn::MulAdd(sums[of].re, re, cosines.re), hn::MulAdd(sums[of].im, re, cosines.im)};
      sines = {hn::NegMulAdd(differences[of].im, im, sines.re),
               hn::MulAdd(differences[of].re, im, sines.im)};
    });
    x[kOut] = cosines + sines;
    x[kRadix - kOut] = cosines - sines;
  });
}

template <bool kInverse, size_t kA, size_t kB>
HWY_INLINE void transform_composite(Points<kA * kB>& x) {
  Array<Points<kB>, kA> inner;  // inner[a] is the transform of x[a], x[a + kA], ...
  unroll<kA>(MARGAY_UNROLLED {
    unroll<kB>([&](auto b) HWY_ATTR
               __attribute__((always_inline)) { inner[index][b] = x[index + kA * b]; });
    transform<kInverse, kB>(inner[index]);
  });
  unroll<kB>(MARGAY_UNROLLED {
    constexpr size_t kOut = index;
    Points<kA> outer;
    unroll<kA>([&](auto a) HWY_ATTR __attribute__((always_inline)) {
      outer[a] = turned<kInverse, a * kOut, kA * kB>(inner[a][kOut]);
    });
    transform<kInverse, kA>(outer);
    unroll<kA>([&](auto a) HWY_ATTR
               __attribute__((always_inline)) { x[kOut + kB * a] = outer[a]; });
  });
}

// Transforms in place, not normalised: x[k] becomes the sum over j of x[j] exp(-2 pi i j k /
// kRadix), with +2 in an inverse transform.
template <bool kInverse, size_t kRadix>
HWY_INLINE void transform(Points<kRadix>& x) {
  constexpr size_t kA = first_factor(kRadix);
  if constexpr (kRadix == 2) {
    const Point sum = x[0] + x[1];
    x[1] = x[0] - x[1];
    x[0] = sum;
  } else if constexpr (kRadix == 4) {
    transform_4<kInverse>(x);
  } else if constexpr (kA == kRadix) {
    transform_odd<kInverse, kRadix>(x);
  } else {
    transform_composite<kInverse, kA, kRadix / kA>(x);
  }
}

// Does the forward transform of points of which only x[0] and x[1] are not zero.
template <size_t kRadix>
HWY_INLINE void transform_first_two(Points<kRadix>& x) {
  if constexpr (first_factor(kRadix) == 4) {
    constexpr size_t kB = kRadix / 4;
    const Point first = x[0], second = x[1];
    unroll<kB>(MARGAY_UNROLLED {
      const Point turn = turned<false, index, kRadix>(second);
      x[index] = first + turn;
      x[index + 2 * kB] = first - turn;
      x[index + kB] = {hn::Add(first.re, turn.im), hn::Sub(first.im, turn.re)};
      x[index + 3 * kB] = {hn::Sub(first.re, turn.im), hn::Add(first.im, turn.re)};
    });
  } else {
    transform<false, kRadix>(x);
  }
}

// Does the forward transform of points behind the first `inputs` of which all are zero.
template <size_t kRadix>
HWY_INLINE void transform_first(size_t inputs, Points<kRadix>& x) {
  if (inputs <= 2) return transform_first_two(x);
  transform<false, kRadix>(x);
}

}  // namespace HWY_NAMESPACE
}  // namespace engine::cpu::fused
HWY_AFTER_NAMESPACE();

#endif
