// The fused path on the CPU: its sums, its halves, and whole searches.
#include "tests/fakes/half_words.h"
#include "tests/fakes/simt_device.h"
//
#include "tests/unit/engine/cuda_fused_cases.h"

namespace tests {
namespace {

struct OnCpu {
  using Device = SimtDevice;
  static std::string missing() { return ""; }
  static std::unique_ptr<Device> make() {
    static uint64_t seed = 1;
    return std::make_unique<Device>(seed += 1000);
  }
};
INSTANTIATE_TYPED_TEST_SUITE_P(OnTheCpu, CudaFused, OnCpu);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CudaSearch);

TEST(CudaFusedSums, AreThoseOfTheStatisticsToTheLastBit) {
  std::mt19937 random(3);
  std::normal_distribution<float> normal(0, 4);
  for (int round = 0; round < 2000; ++round) {
    cuda::FixedSums fast;
    unsigned rests = 0;
    cuda::PixelStatistics slow;
    const int count = 1 + round % cuda::kMostAdditions;
    for (int i = 0; i < count; ++i) {
      // The largest that go the fast way; ties of the rounding; and noise.
      float u = round % 3 == 0 ? 57.2f : normal(random);
      if (round % 3 == 1) u = std::ldexp(std::round(u * 64), -6) + 0x1p-25f;
      const float v = round % 2 == 0 ? -u / 2 : u / 16;
      fast.add(u + v, u * u + v * v, rests);
      slow.add(u + v, u * u + v * v, 0);
    }
    const auto additions = static_cast<unsigned>(count);
    ASSERT_EQ(fast.sum(additions, rests), slow.sum) << round;
    ASSERT_EQ(fast.squares(additions, rests), slow.squares) << round;
  }
}

template <typename Storage>
size_t largest_shared_memory() {
  size_t largest = 0;
  for (const int each : cuda::FusedLengths::kLengths) {
    cuda::FusedLengths::with(each, [&](auto length) {
      largest = std::max({largest, cuda::template_rows_shared<length, Storage>(),
                          cuda::columns_shared<length, Storage>(),
                          cuda::last_rows_shared<length, Storage>()});
    });
  }
  return largest;
}

TEST(CudaFusedKernels, FitIntoTheSharedMemoryOfAnA100) {
  EXPECT_LE(largest_shared_memory<cuda::SingleStorage>(), 163u * 1024);
  EXPECT_LE(largest_shared_memory<cuda::HalfStorage>(), 163u * 1024);
}

TEST(HalfWords, RoundAsIeeeHalves) {
  using simt::half_bits;
  using simt::half_value;
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = half_value(static_cast<uint16_t>(bits));
    if (!std::isnan(value)) {
      EXPECT_EQ(half_bits(value), bits);
    }
  }
  EXPECT_EQ(half_bits(1.0f), 0x3c00);
  EXPECT_EQ(half_bits(-2.0f), 0xc000);
  EXPECT_EQ(half_bits(65504.0f), 0x7bff);
  EXPECT_EQ(half_bits(65519.0f), 0x7bff);
  EXPECT_EQ(half_bits(65520.0f), 0x7c00);
  EXPECT_EQ(half_bits(0x1p-24f), 0x0001);
  EXPECT_EQ(half_bits(0x1p-25f), 0x0000);    // a tie, to the even one
  EXPECT_EQ(half_bits(0x1.8p-24f), 0x0002);  // likewise
  EXPECT_EQ(half_bits(1 + 0x1p-11f), 0x3c00);
  EXPECT_EQ(half_bits(1 + 0x1.8p-10f), 0x3c02);
  EXPECT_EQ(half_bits(0x1.ffcp-15f), 0x03ff + 1);  // into the normal numbers
  EXPECT_TRUE(std::isnan(half_value(half_bits(NAN))));
  const float2 both = unpack_halves(pack_halves({0.25f, -8.0f}));
  EXPECT_EQ(both.x, 0.25f);
  EXPECT_EQ(both.y, -8.0f);
}

}  // namespace
}  // namespace tests
