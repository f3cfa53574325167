// Which processors get vectors of 16 lanes, and that they change no bit.
#include "engine/cpu/fused/vector_units.h"

#include <gtest/gtest.h>
#include <hwy/detect_targets.h>
#include <hwy/targets.h>

#include "engine/cpu/fused/backend.h"
#include "tests/require.h"
#include "tests/unit/engine/search/small_search.h"

namespace engine::cpu::fused {
namespace {

TEST(VectorUnits, AreWholeFromZen5On) {
  EXPECT_FALSE(computes_512_bits_at_once({"AuthenticAMD", 25})) << "Zen 4";
  EXPECT_TRUE(computes_512_bits_at_once({"AuthenticAMD", 26})) << "Zen 5";
  EXPECT_TRUE(computes_512_bits_at_once({"GenuineIntel", 6}));
}

TEST(VectorUnits, AreThoseOfAKnownProcessor) {
#if defined(__x86_64__)
  EXPECT_EQ(this_processor().vendor.size(), 12u);
  EXPECT_GE(this_processor().family, 6);
#else
  EXPECT_EQ(this_processor().vendor, "");
#endif
}

TEST(VectorUnits, OfBothWidthsGiveTheSameBits) {
  const auto run = [](int64_t target) {
    hwy::SetSupportedTargetsForTest(target);
    const std::pair found{vector_width(), run_whole(SmallSearch(), 2, 3)};
    hwy::SetSupportedTargetsForTest(0);
    return found;
  };
  hwy::SetSupportedTargetsForTest(0);
  if ((hwy::SupportedTargets() & HWY_AVX3_DL) == 0) {
    MARGAY_SKIP_FOR_WANT_OF("avx512", "this processor has no AVX-512 of the newer kind");
  }
  const auto [narrow_lanes, narrow] = run(HWY_AVX3);
  const auto [wide_lanes, wide] = run(HWY_AVX3_DL);
  if (wide_lanes != 16) {
    MARGAY_SKIP_FOR_WANT_OF("avx512", "a build with sanitizers has no vectors of 16 lanes");
  }
  EXPECT_EQ(narrow_lanes, 8);
  EXPECT_TRUE(same_bits(wide, narrow));
}

}  // namespace
}  // namespace engine::cpu::fused
