#include "engine/cpu/kernels.h"

#include <algorithm>

// SVE has vectors of a size that the compiler does not know, which cannot be in structures.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/cpu/kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "engine/cpu/instruction_set.h"
#include "engine/numerics/statistics.h"

HWY_BEFORE_NAMESPACE();
namespace engine::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Floats = hn::ScalableTag<float>;
using Ints = hn::RebindToSigned<Floats>;
#if HWY_TARGET == HWY_SCALAR  // one lane: no halves
using Doubles = hn::Rebind<double, Floats>;
#else
using Doubles = hn::Repartition<double, Floats>;
#endif
using Longs = hn::RebindToSigned<Doubles>;

// One whole vector; `out` may be `a` or `b`.
void multiply_conjugate_vector(const float* a, const float* b, float* out) {
  const Floats d;
  hn::Vec<Floats> ar, ai, br, bi;
  hn::LoadInterleaved2(d, a, ar, ai);
  hn::LoadInterleaved2(d, b, br, bi);
  const auto re = hn::Add(hn::Mul(ar, br), hn::Mul(ai, bi));
  const auto im = hn::Sub(hn::Mul(ar, bi), hn::Mul(ai, br));
  hn::StoreInterleaved2(re, im, d, out);
}

void multiply_conjugate_loop(const float* a, const float* b, float* out, size_t count) {
  const size_t lanes = hn::Lanes(Floats());
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    multiply_conjugate_vector(a + 2 * i, b + 2 * i, out + 2 * i);
  }
  if (i == count) return;
  // The rest goes through whole vectors, too: GCC turns a scalar loop into fused operations, with
  // other bits.
  HWY_ALIGN float rest_a[2 * HWY_MAX_BYTES / sizeof(float)] = {};
  HWY_ALIGN float rest_b[2 * HWY_MAX_BYTES / sizeof(float)] = {};
  std::copy(a + 2 * i, a + 2 * count, rest_a);
  std::copy(b + 2 * i, b + 2 * count, rest_b);
  multiply_conjugate_vector(rest_a, rest_b, rest_a);
  std::copy_n(rest_a, 2 * (count - i), out + 2 * i);
}

// A double that holds an integer k as 1.5 x 2^52 + k, for |k| < 2^51: what is added to it is
// rounded to an integer.
constexpr double kMagic = 6755399441055744.0;

template <class V>
HWY_INLINE hn::Vec<Longs> add_to_target(V with_magic, int64_t* target) {
  const Doubles dd;
  const Longs dl;
  const auto value = hn::Sub(hn::BitCast(dl, with_magic), hn::BitCast(dl, hn::Set(dd, kMagic)));
  const auto total = hn::Add(hn::LoadU(dl, target), value);
  hn::StoreU(total, dl, target);
  return total;
}

template <class V>
HWY_INLINE hn::Vec<Longs> add_sums(V sum, int64_t* target) {
  constexpr double kScale = static_cast<double>(int64_t{1} << kSumBits);
  const Doubles dd;
  const auto scaled = hn::Mul(hn::PromoteTo(dd, sum), hn::Set(dd, kScale));
  return add_to_target(hn::Add(scaled, hn::Set(dd, kMagic)), target);
}

// The squares of floats are exact in double, so that MulAdd rounds alike with and without a fused
// instruction.
template <bool kPair, class V>
HWY_INLINE hn::Vec<Longs> add_squares(V u, V v, int64_t* target) {
  constexpr double kRootOfScale = static_cast<double>(int64_t{1} << (kSquareBits / 2));
  static_assert(kSquareBits % 2 == 0);
  const Doubles dd;
  const auto root = hn::Set(dd, kRootOfScale);
  auto total = hn::Set(dd, kMagic);
  if (kPair) {
    const auto scaled = hn::Mul(hn::PromoteTo(dd, v), root);
    total = hn::MulAdd(scaled, scaled, total);
  }
  const auto scaled = hn::Mul(hn::PromoteTo(dd, u), root);
  return add_to_target(hn::MulAdd(scaled, scaled, total), target);
}

// Adds one vector of correlations, or pairs, to as many integers each; returns the bits of the new
// sums of squares.
template <bool kPair>
HWY_INLINE hn::Vec<Longs> add_vector(hn::Vec<Floats> u, hn::Vec<Floats> v, hn::Vec<Floats> sum,
                                     int64_t* sums, int64_t* squares) {
#if HWY_TARGET == HWY_SCALAR
  add_sums(sum, sums);
  return add_squares<kPair>(u, v, squares);
#else
  const hn::Half<Floats> half;
  const size_t lanes = hn::Lanes(half);
  add_sums(hn::LowerHalf(half, sum), sums);
  add_sums(hn::UpperHalf(half, sum), sums + lanes);
  return hn::Or(
      add_squares<kPair>(hn::LowerHalf(half, u), hn::LowerHalf(half, v), squares),
      add_squares<kPair>(hn::UpperHalf(half, u), hn::UpperHalf(half, v), squares + lanes));
#endif
}

struct Checked {
  hn::Vec<Floats> largest;   // square of this row
  hn::Vec<Longs> bits;       // of all sums of squares
  hn::Mask<Floats> ordered;  // no NaN so far
};

// One vector of pixels: sums, squares and the maximum, `value` with `index`. Without a pair `v` is
// not read.
template <bool kPair>
HWY_INLINE void update(hn::Vec<Floats> u, hn::Vec<Floats> v, hn::Vec<Floats> value,
                       hn::Vec<Ints> index, size_t i, const StatisticsRow& s, Checked& checked) {
  const Floats d;
  const Ints di;
  const auto sum = kPair ? hn::Add(u, v) : u;
  const auto square = kPair ? hn::Add(hn::Mul(u, u), hn::Mul(v, v)) : hn::Mul(u, u);
  checked.bits = hn::Or(checked.bits, add_vector<kPair>(u, v, sum, s.sum + i, s.squares + i));
  checked.largest = hn::Max(checked.largest, square);
  checked.ordered = hn::And(checked.ordered, hn::Eq(square, square));

  const auto best = hn::LoadU(d, s.best + i);
  const auto best_index_now = hn::LoadU(di, s.index + i);
  const auto lower = hn::RebindMask(d, hn::Lt(index, best_index_now));
  const auto better = hn::Or(hn::Gt(value, best), hn::And(hn::Eq(value, best), lower));
  hn::StoreU(hn::IfThenElse(better, value, best), d, s.best + i);
  hn::StoreU(hn::IfThenElse(hn::RebindMask(di, better), index, best_index_now), di, s.index + i);
}

// The end of a row that fills no whole vector goes through scratch that does.
struct Tail {
  static constexpr size_t kLanes = HWY_MAX_BYTES / sizeof(float);
  HWY_ALIGN float row[2 * kLanes] = {};
  HWY_ALIGN float best[kLanes] = {};
  HWY_ALIGN int32_t index[kLanes] = {};
  HWY_ALIGN int64_t sum[kLanes] = {};
  HWY_ALIGN int64_t squares[kLanes] = {};

  Tail(const float* from, size_t begin, size_t end, const StatisticsRow& s) {
    std::copy(from + 2 * begin, from + 2 * end, row);
    std::copy(s.best + begin, s.best + end, best);
    std::copy(s.index + begin, s.index + end, index);
    std::copy(s.sum + begin, s.sum + end, sum);
    std::copy(s.squares + begin, s.squares + end, squares);
  }
  StatisticsRow statistics() { return {best, index, sum, squares}; }
  void store(size_t begin, size_t end, const StatisticsRow& s) const {
    const size_t count = end - begin;
    std::copy_n(best, count, s.best + begin);
    std::copy_n(index, count, s.index + begin);
    std::copy_n(sum, count, s.sum + begin);
    std::copy_n(squares, count, s.squares + begin);
  }
};

// No NaN, nothing too large, no sum near the end of its range.
bool in_range(const Checked& checked) {
  const Floats d;
  HWY_ALIGN int64_t bits[HWY_MAX_BYTES / sizeof(int64_t)] = {};
  hn::Store(checked.bits, Longs(), bits);
  uint64_t all = 0;
  for (const int64_t lane : bits) all |= static_cast<uint64_t>(lane);
  // Beyond 2^31 a square would not fit the fixed-point conversion.
  const bool fits = hn::AllTrue(d, hn::Lt(checked.largest, hn::Set(d, 2147483648.0f)));
  return fits && hn::AllTrue(d, checked.ordered) && all < kSquareLimit;
}

// `row` holds interleaved pairs of floats.
template <bool kPair>
bool accumulate_row(const float* HWY_RESTRICT row, size_t count, int32_t first, int32_t second,
                    StatisticsRow s) {
  const Floats d;
  const Ints di;
  const size_t lanes = hn::Lanes(d);
  Checked checked{hn::Zero(d), hn::Zero(Longs()), hn::Eq(hn::Zero(d), hn::Zero(d))};
  size_t i = 0;
  const auto step = [&](hn::Vec<Floats> u, hn::Vec<Floats> v, size_t at, const StatisticsRow& to) {
    if (kPair) {
      const auto later = hn::Gt(v, u);
      const auto index =
          hn::IfThenElse(hn::RebindMask(di, later), hn::Set(di, second), hn::Set(di, first));
      update<true>(u, v, hn::IfThenElse(later, v, u), index, at, to, checked);
    } else {
      update<false>(u, v, u, hn::Set(di, first), at, to, checked);
    }
  };
  for (; i + lanes <= count; i += lanes) {
    hn::Vec<Floats> u, v;
    hn::LoadInterleaved2(d, row + 2 * i, u, v);
    step(u, v, i, s);
  }
  if (i < count) {
    Tail tail(row, i, count, s);
    hn::Vec<Floats> u, v;
    hn::LoadInterleaved2(d, tail.row, u, v);
    step(u, v, 0, tail.statistics());
    tail.store(i, count, s);
  }
  return in_range(checked);
}

bool accumulate_loop(const float* row, size_t count, int32_t first, int32_t second,
                     StatisticsRow s) {
  return second >= 0 ? accumulate_row<true>(row, count, first, second, s)
                     : accumulate_row<false>(row, count, first, first, s);
}

std::string target_name() { return hwy::TargetName(HWY_TARGET); }

}  // namespace HWY_NAMESPACE
}  // namespace engine::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace engine::cpu {

HWY_EXPORT(multiply_conjugate_loop);
HWY_EXPORT(accumulate_loop);
HWY_EXPORT(target_name);

void multiply_conjugate(const std::complex<float>* a, const std::complex<float>* b,
                        std::complex<float>* out, size_t count) {
  HWY_DYNAMIC_DISPATCH(multiply_conjugate_loop)
  (reinterpret_cast<const float*>(a), reinterpret_cast<const float*>(b),
   reinterpret_cast<float*>(out), count);
}

bool accumulate(const std::complex<float>* row, size_t count, int32_t first, int32_t second,
                StatisticsRow statistics) {
  return HWY_DYNAMIC_DISPATCH(accumulate_loop)(reinterpret_cast<const float*>(row), count, first,
                                               second, statistics);
}

void transpose(const std::complex<float>* in, size_t in_stride, size_t rows, size_t columns,
               std::complex<float>* out, size_t out_stride) {
  constexpr size_t kTile = 8;  // one cache line of elements
  for (size_t r0 = 0; r0 < rows; r0 += kTile) {
    const size_t r1 = r0 + kTile < rows ? r0 + kTile : rows;
    for (size_t c = 0; c < columns; ++c) {
      for (size_t r = r0; r < r1; ++r) out[c * out_stride + r] = in[r * in_stride + c];
    }
  }
}

std::string kernel_instruction_set() {
  return instruction_set_name(HWY_DYNAMIC_DISPATCH(target_name)());
}

}  // namespace engine::cpu
#endif  // HWY_ONCE
