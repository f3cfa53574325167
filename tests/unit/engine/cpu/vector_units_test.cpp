// Which processors get vectors of 16 lanes, and that they change no bit.
#include "engine/cpu/fused/vector_units.h"

#include <gtest/gtest.h>
#include <hwy/detect_targets.h>
#include <hwy/targets.h>

#include <complex>
#include <random>
#include <vector>

#include "engine/cpu/fused/back_transform.h"
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

class BothWidths : public testing::Test {
 protected:
  void SetUp() override {
    if ((hwy::SupportedTargets() & HWY_AVX3_DL) == 0) {
      MARGAY_SKIP_FOR_WANT_OF("avx512", "this processor has no AVX-512 of the newer kind");
    }
    hwy::SetSupportedTargetsForTest(HWY_AVX3_DL);
    if (vector_width() != 16) {
      MARGAY_SKIP_FOR_WANT_OF("avx512", "a build with sanitizers has no vectors of 16 lanes");
    }
  }
  void TearDown() override { hwy::SetSupportedTargetsForTest(0); }

  // result() with vectors of this width.
  template <typename Result>
  static auto with(int64_t target, const Result& result) {
    hwy::SetSupportedTargetsForTest(target);
    return result();
  }
};

TEST_F(BothWidths, AreThoseOfTheProcessor) {
  hwy::SetSupportedTargetsForTest(0);
  EXPECT_EQ(vector_width(), computes_512_bits_at_once(this_processor()) ? 16 : 8);
  EXPECT_EQ(with(HWY_AVX3, vector_width), 8);
}

TEST_F(BothWidths, GiveSearchesTheSameBits) {
  const auto search = [] { return run_whole(SmallSearch(), 2, 3); };
  EXPECT_TRUE(same_bits(with(HWY_AVX3_DL, search), with(HWY_AVX3, search)));
}

// With sides at which rows are transformed in twos, and the last block of rows is not full.
TEST_F(BothWidths, GiveProjectionsTheSameBits) {
  using Complex = std::complex<float>;
  for (const int n : {10, 16, 18, 40, 48, 126, 128}) {
    const auto side = static_cast<size_t>(n);
    std::vector<Complex> slice(side * (side / 2 + 1)), filter(slice.size());
    std::mt19937 random(static_cast<unsigned>(n));
    const auto value = [&] { return static_cast<float>(random() % 2001) / 1000 - 1; };
    for (Complex& one : slice) one = {value(), value()};
    for (Complex& one : filter) one = {value(), value()};
    const auto projection = [&] {
      std::vector<float> pixels(side * side);
      make_back_transform(n, 1)->compute(slice.data(), filter.data(), pixels.data(), 0);
      return pixels;
    };
    const std::vector<float> wide = with(HWY_AVX3_DL, projection);
    EXPECT_EQ(wide, with(HWY_AVX3, projection)) << n;
    EXPECT_NE(wide, std::vector<float>(wide.size())) << "nothing was computed";
  }
}

}  // namespace
}  // namespace engine::cpu::fused
