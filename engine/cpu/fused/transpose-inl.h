// Transposes tiles of as many rows and columns as a vector has lanes, for the instruction set that
// is being compiled.
#if defined(MARGAY_FUSED_TRANSPOSE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MARGAY_FUSED_TRANSPOSE_INL_H
#undef MARGAY_FUSED_TRANSPOSE_INL_H
#else
#define MARGAY_FUSED_TRANSPOSE_INL_H
#endif

#include <hwy/highway.h>

#include "engine/cpu/fused/butterflies-inl.h"

HWY_BEFORE_NAMESPACE();
namespace engine::cpu::fused {
namespace HWY_NAMESPACE {

using Tile = Array<V, kLanes>;

// Transposes the four rows within each 128-bit block of four floats.
HWY_INLINE void transpose_in_blocks(V* rows) {
#if HWY_TARGET != HWY_SCALAR
  const Floats d;
  const hn::Repartition<uint64_t, Floats> d64;
  const hn::Vec<Floats> row_0 = rows[0], row_1 = rows[1], row_2 = rows[2], row_3 = rows[3];
  const auto low_01 = hn::BitCast(d64, hn::InterleaveLower(d, row_0, row_1));
  const auto low_23 = hn::BitCast(d64, hn::InterleaveLower(d, row_2, row_3));
  const auto high_01 = hn::BitCast(d64, hn::InterleaveUpper(d, row_0, row_1));
  const auto high_23 = hn::BitCast(d64, hn::InterleaveUpper(d, row_2, row_3));
  rows[0] = hn::BitCast(d, hn::InterleaveLower(d64, low_01, low_23));
  rows[1] = hn::BitCast(d, hn::InterleaveUpper(d64, low_01, low_23));
  rows[2] = hn::BitCast(d, hn::InterleaveLower(d64, high_01, high_23));
  rows[3] = hn::BitCast(d, hn::InterleaveUpper(d64, high_01, high_23));
#else
  (void)rows;
#endif
}

HWY_INLINE void transpose(Tile& tile) {
  if constexpr (kLanes >= 4) {
    unroll<kLanes / 4>(MARGAY_UNROLLED { transpose_in_blocks(tile.values + 4 * index); });
  }
#if HWY_TARGET != HWY_SCALAR
  const Floats d;
  // The blocks are exchanged: block b of row 4 g + c belongs into block g of row 4 b + c.
  if constexpr (kLanes == 8) {
    unroll<4>(MARGAY_UNROLLED {
      const hn::Vec<Floats> low = tile[index], high = tile[index + 4];
      tile[index] = hn::ConcatLowerLower(d, high, low);
      tile[index + 4] = hn::ConcatUpperUpper(d, high, low);
    });
  }
  if constexpr (kLanes == 16) {
    unroll<4>(MARGAY_UNROLLED {
      const auto pair = [&](V a, V b, V & even, V & odd) HWY_ATTR __attribute__((always_inline)) {
        even = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(b), a);
        odd = hn::OddEvenBlocks(b, hn::SwapAdjacentBlocks(a));
      };
      V even_01, odd_01, even_23, odd_23;
      pair(tile[index], tile[index + 4], even_01, odd_01);
      pair(tile[index + 8], tile[index + 12], even_23, odd_23);
      tile[index] = hn::ConcatLowerLower(d, even_23, even_01);
      tile[index + 4] = hn::ConcatLowerLower(d, odd_23, odd_01);
      tile[index + 8] = hn::ConcatUpperUpper(d, even_23, even_01);
      tile[index + 12] = hn::ConcatUpperUpper(d, odd_23, odd_01);
    });
  }
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace engine::cpu::fused
HWY_AFTER_NAMESPACE();

#endif
