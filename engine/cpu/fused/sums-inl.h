// Statistics of the fused path, for the instruction set that is being compiled. They accumulate the
// sums of each pixel (docs/numerics.md, Statistics), first over a group of transforms in 32 bits,
// then over the search.
#if defined(MARGAY_FUSED_SUMS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MARGAY_FUSED_SUMS_INL_H
#undef MARGAY_FUSED_SUMS_INL_H
#else
#define MARGAY_FUSED_SUMS_INL_H
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "engine/cpu/fused/blocks.h"
#include "engine/cpu/fused/passes-inl.h"
#include "engine/numerics/statistics.h"

HWY_BEFORE_NAMESPACE();
namespace engine::cpu::fused {
namespace HWY_NAMESPACE {

using Ints = hn::RebindToSigned<Floats>;
using I = hn::Vec<Ints>;
#if HWY_TARGET == HWY_SCALAR  // one lane: no halves
using Doubles = hn::Rebind<double, Floats>;
using Half = Floats;
#else
using Doubles = hn::Repartition<double, Floats>;
using Half = hn::Half<Floats>;
#endif
using Longs = hn::RebindToSigned<Doubles>;
constexpr size_t kHalf = hn::MaxLanes(Doubles());

// A square (for a pair, the sum of both squares) of this value or more is added in 64 bits at once.
constexpr float kLargeSquare = 64.0f;
constexpr double kSumScale = static_cast<double>(int64_t{1} << kSumBits);
constexpr double kRootOfSquareScale = static_cast<double>(int64_t{1} << (kSquareBits / 2));
// A double holds an integer k as 1.5 x 2^52 + k: any value added to it is rounded to an integer. A
// float near 1.5 x 2^(23 - kSquareBits) is a multiple of 2^-kSquareBits: so is any value added to
// it.
constexpr double kMagic = 6755399441055744.0;
constexpr float kFloatMagic = 1.5f * (1 << (23 - kSquareBits));
static_assert(3 * kLargeSquare <= kFloatMagic, "a float holds it beside its magic");

// True where MulAdd is a fused multiply-add, which rounds once.
#if (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2) || (HWY_ARCH_ARM_A64 && HWY_TARGET < HWY_EMU128)
constexpr bool kFused = true;
#else
constexpr bool kFused = false;
#endif

// Sets `fixed` to the sum of squares in steps of 2^-kSquareBits: the square of v is rounded, then
// its sum with the square of u, both from exact products. Returns false where some lane is large or
// not a number.
template <bool kPair>
HWY_INLINE bool fix_squares_fused(V u, V v, I& fixed) {
  const Floats d;
  const Ints di;
  const V magic = hn::Set(d, kFloatMagic);
  V total = magic;
  if constexpr (kPair) total = hn::MulAdd(v, v, total);
  total = hn::MulAdd(u, u, total);
  fixed = hn::Sub(hn::BitCast(di, total), hn::BitCast(di, magic));
  return hn::AllTrue(d, hn::Lt(total, hn::Set(d, kFloatMagic + kLargeSquare)));
}

// Gives the same result in double, where there is no fused multiply-add.
template <bool kPair>
HWY_INLINE bool fix_squares_in_double(V u, V v, I& fixed) {
  const Floats d;
  const Doubles dd;
  V square = hn::Mul(u, u);
  if constexpr (kPair) square = hn::Add(square, hn::Mul(v, v));
  const bool small = hn::AllTrue(d, hn::Lt(square, hn::Set(d, kLargeSquare)));
  const auto add = [&](auto half, auto total) HWY_ATTR {
    const auto scaled = hn::Mul(hn::PromoteTo(dd, half), hn::Set(dd, kRootOfSquareScale));
    return hn::Add(hn::Mul(scaled, scaled), total);
  };
  const auto whole = [&](auto half_u, auto half_v) HWY_ATTR {
    auto total = hn::Set(dd, kMagic);
    if constexpr (kPair) total = add(half_v, total);
    total = add(half_u, total);
    return hn::DemoteTo(hn::Rebind<int32_t, Doubles>(), hn::Sub(total, hn::Set(dd, kMagic)));
  };
#if HWY_TARGET == HWY_SCALAR
  fixed = whole(u, v);
#else
  const Half half;
  fixed = hn::Combine(Ints(), whole(hn::UpperHalf(half, u), hn::UpperHalf(half, v)),
                      whole(hn::LowerHalf(half, u), hn::LowerHalf(half, v)));
#endif
  return small;
}

inline int64_t integer_of(double with_magic) {
  int64_t bits = 0, magic = 0;
  std::memcpy(&bits, &with_magic, sizeof bits);
  std::memcpy(&magic, &kMagic, sizeof magic);
  return bits - magic;
}

// Adds a point with a large square to the statistics, lane by lane. Returns a lane that has left
// its range, or -1.
template <bool kPair>
HWY_NOINLINE int add_large(V u, V v, int64_t* sums, int64_t* squares) {
  const Floats d;
  HWY_ALIGN float us[kLanes];
  HWY_ALIGN float vs[kLanes];
  hn::Store(u, d, us);
  hn::Store(v, d, vs);
  const auto square = [](float x) {
    const double scaled = static_cast<double>(x) * kRootOfSquareScale;
    return scaled * scaled;
  };
  int out_of_range = -1;
  for (size_t lane = 0; lane < kLanes; ++lane) {
    const float sum = kPair ? us[lane] + vs[lane] : us[lane];
    double total = kMagic;
    if constexpr (kPair) total += square(vs[lane]);
    total += square(us[lane]);
    // Beyond 2^31 a square would not fit the fixed-point conversion.
    if (!(total - kMagic < 2147483648.0 * kRootOfSquareScale * kRootOfSquareScale)) {
      out_of_range = static_cast<int>(lane);
      continue;
    }
    sums[lane] += integer_of(kMagic + static_cast<double>(sum) * kSumScale);
    squares[lane] += integer_of(total);
    if (static_cast<uint64_t>(squares[lane]) >= kSquareLimit) out_of_range = static_cast<int>(lane);
  }
  return out_of_range;
}

// Keeps the larger value with its index; of equal values the lower index.
template <bool kPair>
HWY_INLINE void keep_better(V u, V v, const Indices& indices, float* best, int32_t* index) {
  const Floats d;
  const Ints di;
  const V now = hn::Load(d, best);
  V value = u;
  if constexpr (kPair) value = hn::Max(u, v);
  // Improvements are rare once a search has run for a while.
  if (HWY_LIKELY(hn::AllFalse(d, hn::Ge(value, now)))) return;
  I at = hn::Set(di, indices.first);
  if constexpr (kPair) {
    at = hn::IfThenElse(hn::RebindMask(di, hn::Gt(v, u)), hn::Set(di, indices.second), at);
  }
  const I index_now = hn::Load(di, index);
  const auto lower = hn::RebindMask(d, hn::Lt(at, index_now));
  const auto better = hn::Or(hn::Gt(value, now), hn::And(hn::Eq(value, now), lower));
  hn::Store(hn::IfThenElse(better, value, now), d, best);
  hn::Store(hn::IfThenElse(hn::RebindMask(di, better), at, index_now), di, index);
}

// Rounds values whose integers 32 bits hold: unlike NearestInt it does not look after others.
HWY_INLINE I nearest_int(hn::Vec<Floats> v) {
#if HWY_TARGET == HWY_AVX3_DL
  return I{_mm512_cvtps_epi32(v.raw)};
#elif HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
  return I{_mm256_cvtps_epi32(v.raw)};
#else
  return hn::NearestInt(v);
#endif
}

// Adds `count` consecutive points, beginning at `column`: u is in the real parts and, for a pair, v
// in the imaginary parts.
template <bool kPair>
HWY_INLINE void add_points(const float* HWY_RESTRICT points, size_t count, size_t column,
                           const Rows& rows, OutOfRange& found) {
  const Floats d;
  const Ints di;
  const Statistics& s = rows.statistics;
  for (size_t i = 0; i < count; ++i) {
    const Point p = load(points + i * kPoint);
    const size_t at = (column + i) * kLanes;
    // The next call for this part begins `count` columns further on.
    hwy::Prefetch(s.best + std::min(column + i + count, rows.wanted - 1) * kLanes);
    I squares;
    bool small = false;
    if constexpr (kFused) {
      small = fix_squares_fused<kPair>(p.re, p.im, squares);
    } else {
      small = fix_squares_in_double<kPair>(p.re, p.im, squares);
    }
    if (HWY_LIKELY(small)) {
      V sum = p.re;
      if constexpr (kPair) sum = hn::Add(sum, p.im);
      const I fixed = nearest_int(hn::Mul(sum, hn::Set(d, static_cast<float>(kSumScale))));
      int32_t* to = rows.sums + 2 * at;
      hn::Store(hn::Add(hn::Load(di, to), fixed), di, to);
      hn::Store(hn::Add(hn::Load(di, to + kLanes), squares), di, to + kLanes);
    } else {
      const int lane = add_large<kPair>(p.re, p.im, s.sum + at, s.squares + at);
      if (lane >= 0) found = {static_cast<int64_t>(column + i), lane};
    }
    keep_better<kPair>(p.re, p.im, rows.indices, s.best + at, s.index + at);
  }
}

// Adds kLanes integers to `to`. Returns the bits of all new values, ORed.
HWY_INLINE hn::Vec<Longs> add_longs(const int32_t* from, int64_t* to) {
  const Longs dl;
  auto bits = hn::Zero(dl);
  for (size_t i = 0; i < kLanes; i += kHalf) {
    const auto more = hn::PromoteTo(dl, hn::Load(hn::Rebind<int32_t, Longs>(), from + i));
    const auto total = hn::Add(hn::Load(dl, to + i), more);
    hn::Store(total, dl, to + i);
    bits = hn::Or(bits, total);
  }
  return bits;
}

inline OutOfRange find_out_of_range(const int64_t* squares, size_t points) {
  for (size_t i = 0; i < points * kLanes; ++i) {
    if (static_cast<uint64_t>(squares[i]) >= kSquareLimit) {
      return {static_cast<int64_t>(i / kLanes), static_cast<int>(i % kLanes)};
    }
  }
  return {};
}

inline OutOfRange add_sums(const int32_t* sums, const Statistics& s, size_t points) {
  auto bits = hn::Zero(Longs());
  for (size_t i = 0; i < points; ++i) {
    add_longs(sums + 2 * i * kLanes, s.sum + i * kLanes);
    bits = hn::Or(bits, add_longs(sums + (2 * i + 1) * kLanes, s.squares + i * kLanes));
  }
  HWY_ALIGN int64_t lanes[kHalf];
  hn::Store(bits, Longs(), lanes);
  uint64_t all = 0;
  for (const int64_t lane : lanes) all |= static_cast<uint64_t>(lane);
  return all >= kSquareLimit ? find_out_of_range(s.squares, points) : OutOfRange{};
}

}  // namespace HWY_NAMESPACE
}  // namespace engine::cpu::fused
HWY_AFTER_NAMESPACE();

#endif
