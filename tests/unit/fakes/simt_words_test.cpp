// CUDA's words against what NVIDIA's manuals say of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "tests/fakes/half_words.h"
#include "tests/fakes/simt.h"

namespace tests {
namespace {

using simt::KernelError;
using simt::launch;
using testing::ElementsAre;

constexpr uint64_t kWordSeeds = 10;

template <typename Value>
__global__ void shuffle(int which, int by, int width, unsigned mask, Value* out) {
  const auto mine = static_cast<Value>(100 + threadIdx.x);
  if ((mask >> threadIdx.x & 1) == 0) return;
  Value got{};
  if (which == 0) got = __shfl_sync(mask, mine, by, width);
  if (which == 1) got = __shfl_up_sync(mask, mine, static_cast<unsigned>(by), width);
  if (which == 2) got = __shfl_down_sync(mask, mine, static_cast<unsigned>(by), width);
  if (which == 3) got = __shfl_xor_sync(mask, mine, by, width);
  out[threadIdx.x] = got;
}

template <typename Value>
std::vector<int> lanes_read(int which, int by, int width) {
  std::vector<Value> out(32);
  launch(shuffle<Value>, 1, 32, 0, which, by, width, ~0u, out.data());
  std::vector<int> lanes;
  for (const Value value : out) lanes.push_back(static_cast<int>(value) - 100);
  return lanes;
}

std::vector<int> expected(int (*of)(int lane)) {
  std::vector<int> lanes;
  for (int lane = 0; lane < 32; ++lane) lanes.push_back(of(lane));
  return lanes;
}

TEST(SimtWords, ShufflesReadTheLanesThatTheManualNames) {
  EXPECT_EQ(lanes_read<int>(0, 37, 32), expected([](int) { return 5; }));
  EXPECT_EQ(lanes_read<float>(0, 3, 8), expected([](int lane) { return lane / 8 * 8 + 3; }));
  EXPECT_EQ(lanes_read<double>(1, 3, 32),
            expected([](int lane) { return lane < 3 ? lane : lane - 3; }));
  EXPECT_EQ(lanes_read<unsigned>(1, 3, 16),
            expected([](int lane) { return lane % 16 < 3 ? lane : lane - 3; }));
  EXPECT_EQ(lanes_read<unsigned long long>(2, 5, 8),
            expected([](int lane) { return lane % 8 + 5 > 7 ? lane : lane + 5; }));
  EXPECT_EQ(lanes_read<int>(3, 31, 32), expected([](int lane) { return 31 - lane; }));
  EXPECT_EQ(lanes_read<int>(3, 8, 8), expected([](int lane) {
              return lane % 16 < 8 ? lane : lane - 8;  // earlier groups may be read, later may not
            }));
}

TEST(SimtWords, PartsOfAWarpShuffleByThemselves) {
  for (const unsigned mask : {0x0000ffffu, 0xffff0000u, 0x000000ffu}) {
    std::vector<int> out(32, -1);
    launch(shuffle<int>, 1, 32, 0, 3, 1, 32, mask, out.data());
    for (int lane = 0; lane < 32; ++lane) {
      EXPECT_EQ(out[static_cast<size_t>(lane)], (mask >> lane & 1) != 0 ? 100 + (lane ^ 1) : -1);
    }
  }
}

__global__ void shuffle_with(unsigned mask, int source) { __shfl_sync(mask, 1, source); }

TEST(SimtWords, AShuffleFromALaneThatTakesNoPartIsAnError) {
  EXPECT_NO_THROW(launch(shuffle_with, 1, 20, 0, ~0u, 19));
  EXPECT_THROW(launch(shuffle_with, 1, 20, 0, ~0u, 20), KernelError);
}

__global__ void words_at_odds(unsigned mask_of_first, bool first_votes) {
  const bool first = threadIdx.x == 0;
  const unsigned mask = first ? mask_of_first : 0xffffffffu;
  if (first && !first_votes) {
    __syncwarp(mask);
  } else {
    __any_sync(mask, 1);
  }
}

TEST(SimtWords, LanesThatMeetWithOtherWordsOrMasksAreAnError) {
  EXPECT_NO_THROW(launch(words_at_odds, 1, 32, 0, ~0u, true));
  EXPECT_THROW(launch(words_at_odds, 1, 32, 0, ~0u, false), KernelError);
  EXPECT_THROW(launch(words_at_odds, 1, 32, 0, 0xffffu, true), KernelError);
}

TEST(SimtWords, AMaskWithoutItsCallerIsAnError) {
  EXPECT_THROW(launch(shuffle_with, 1, 32, 0, 0xfu, 0), KernelError);
}

__global__ void vote(unsigned* out) {
  const unsigned mask = threadIdx.x < 16 ? 0xffffu : 0xffff0000u;
  const bool odd = threadIdx.x % 2 == 1;
  if (threadIdx.x == 30) {
    for (int i = 0; i < 100; ++i) __threadfence_block();  // the others wait when it ends
    return;
  }
  const unsigned ballot = __ballot_sync(mask, odd);
  const int any_low = __any_sync(mask, threadIdx.x < 16);
  const int all_low = __all_sync(mask, threadIdx.x < 16);
  const int all_known = __all_sync(mask, threadIdx.x != 30);
  out[threadIdx.x] = ballot | static_cast<unsigned>(any_low << 8 | all_low << 10 | all_known << 12);
}

TEST(SimtWords, VotesCountThoseWhoTakePart) {
  for (uint64_t seed = 0; seed < kWordSeeds; ++seed) {
    std::vector<unsigned> out(32);
    launch({.seed = seed}, vote, 1, 32, 0, out.data());
    EXPECT_EQ(out[0], 0x0000aaaau | 1u << 8 | 1u << 10 | 1u << 12);
    EXPECT_EQ(out[31], 0xaaaa0000u | 1u << 12);
  }
}

__global__ void count_at_barrier(int* out) {
  const auto thread = static_cast<int>(threadIdx.x);
  if (thread == 99) return;
  const int count = __syncthreads_count(thread < 7);
  const int any = __syncthreads_or(thread == 50);
  const int none = __syncthreads_or(thread == 99);
  const int all = __syncthreads_and(thread != 99);
  const int not_all = __syncthreads_and(thread != 3);
  if (thread == 98) {
    for (int i = 0; const int value : {count, any, none, all, not_all}) out[i++] = value;
  }
}

TEST(SimtWords, ABarrierMayCount) {
  std::vector<int> out(5);
  launch(count_at_barrier, 1, 100, 0, out.data());
  EXPECT_THAT(out, ElementsAre(7, 1, 0, 1, 0));
}

struct Atomics {
  int sum = 0;
  unsigned wrapped = 0;
  unsigned long long big = 0;
  float real = 0.0f;
  double exact = 0.0;
  int least = 1000;
  unsigned long long most = 0;
  unsigned bits = 0;
  unsigned kept = ~0u;
  unsigned long long product = 1;
  int swapped = -1;
  int swapped_out = 0;
};

__global__ void use_atomics(Atomics* to) {
  const auto thread = static_cast<int>(threadIdx.x);
  atomicAdd(&to->sum, thread);
  atomicAdd(&to->wrapped, 0u - 1u);
  atomicAdd(&to->big, 1ull << 40);
  atomicAdd(&to->real, 0.5f);
  atomicAdd(&to->exact, 0.25);
  atomicMin(&to->least, 500 - thread);
  atomicMax(&to->most, 1ull << (thread % 40));
  atomicOr(&to->bits, 1u << thread % 32);
  atomicAnd(&to->kept, ~(1u << thread % 8));
  unsigned long long seen = atomicOr(&to->product, 0);
  for (unsigned long long assumed = 0; assumed != seen;) {
    assumed = seen;
    seen = atomicCAS(&to->product, assumed, assumed * 3);
  }
  atomicAdd(&to->swapped_out, atomicExch(&to->swapped, thread));
}

TEST(SimtWords, AtomicsLoseNothing) {
  for (uint64_t seed = 0; seed < kWordSeeds; ++seed) {
    Atomics to;
    launch({.seed = seed}, use_atomics, 1, 64, 0, &to);
    EXPECT_EQ(to.sum, 2016);
    EXPECT_EQ(to.wrapped, 0u - 64u);
    EXPECT_EQ(to.big, 64ull << 40);
    EXPECT_EQ(to.real, 32.0f);
    EXPECT_EQ(to.exact, 16.0);
    EXPECT_EQ(to.least, 437);
    EXPECT_EQ(to.most, 1ull << 39);
    EXPECT_EQ(to.bits, ~0u);
    EXPECT_EQ(to.kept, ~0xffu);
    unsigned long long power = 1;
    for (int i = 0; i < 64; ++i) power *= 3;
    EXPECT_EQ(to.product, power) << "a change between the reading and the swap was lost";
    EXPECT_EQ(to.swapped_out + to.swapped, 2016 - 1);
  }
}

__global__ void write_twice(int* order, int* count) {
  for (int i = 0; i < 2; ++i) order[atomicAdd(count, 1)] = static_cast<int>(threadIdx.x);
}

TEST(SimtWords, AnAtomicLetsOthersGoFirst) {
  std::vector<int> order(2 * 64);
  int count = 0;
  launch(write_twice, 1, 64, 0, order.data(), &count);
  int in_one_go = 0;
  for (size_t i = 1; i < order.size(); ++i) in_one_go += order[i] == order[i - 1] ? 1 : 0;
  EXPECT_LT(in_one_go, 32);
}

template <typename T>
concept HasAtomicAdd = requires(T* address, T value) {
  atomicAdd(address, value);
};

TEST(SimtWords, ThereAreNoAtomicsThatCudaLacks) {
  EXPECT_TRUE(HasAtomicAdd<unsigned long long>);
  EXPECT_FALSE(HasAtomicAdd<long long>);
  EXPECT_FALSE(HasAtomicAdd<unsigned long>);
  EXPECT_FALSE(HasAtomicAdd<short>);
}

TEST(SimtWords, NumbersRoundToTheNearestEvenInteger) {
  EXPECT_EQ(__float2ll_rn(2.5f), 2);
  EXPECT_EQ(__float2ll_rn(-3.5f), -4);
  EXPECT_EQ(__double2ll_rn(4503599627370497.5), 4503599627370498);
  EXPECT_EQ(__float2int_rn(0.5f), 0);
  EXPECT_EQ(__float2int_rd(-0.5f), -1);
}

TEST(SimtWords, NumbersOutOfRangeAreHeldAtItsEnds) {
  using Long = std::numeric_limits<long long>;
  using Int = std::numeric_limits<int>;
  EXPECT_EQ(__float2ll_rn(1e30f), Long::max());
  EXPECT_EQ(__double2ll_rn(-1e30), Long::min());
  EXPECT_EQ(__double2ll_rn(9223372036854775808.0), Long::max());
  EXPECT_EQ(__double2ll_rn(-9223372036854775808.0), Long::min());
  EXPECT_EQ(__float2int_rn(3e9f), Int::max());
  EXPECT_EQ(__float2int_rn(std::nanf("")), 0);
  EXPECT_EQ(__double2int_rn(std::nan("")), Int::min());
  EXPECT_EQ(__float2ll_rn(std::nanf("")), Long::min());
}

TEST(SimtWords, ProductsAndSumsAreFusedOnlyWhereAsked) {
  const float a = 1.0f + 0x1p-12f;
  const float product = 1.0f + 0x1p-11f;  // a * a but for its last bits
  EXPECT_EQ(__fadd_rn(__fmul_rn(a, a), -product), 0.0f);
  EXPECT_EQ(__fmaf_rn(a, a, -product), 0x1p-24f);
}

TEST(SimtWords, SinesOfMultiplesOfPiAreExactWhereTheyCanBe) {
  for (int quarters = -9; quarters <= 9; ++quarters) {
    float sine = 2.0f;
    float cosine = 2.0f;
    sincospif(0.5f * static_cast<float>(quarters), &sine, &cosine);
    const int turn = (quarters % 4 + 4) % 4;
    EXPECT_EQ(sine, turn == 1 ? 1.0f : turn == 3 ? -1.0f : 0.0f) << quarters;
    EXPECT_EQ(cosine, turn == 0 ? 1.0f : turn == 2 ? -1.0f : 0.0f) << quarters;
  }
  for (const double x : {0.1, -0.3, 1.7, -2.2, 100.375}) {
    double sine = 2.0;
    double cosine = 2.0;
    sincospi(x, &sine, &cosine);
    EXPECT_NEAR(sine, std::sin(M_PI * x), 1e-13);
    EXPECT_NEAR(cosine, std::cos(M_PI * x), 1e-13);
  }
}

TEST(SimtWords, TheLesserOfANumberAndNoneIsTheNumber) {
  EXPECT_EQ(min(1.0f, std::nanf("")), 1.0f);
  EXPECT_EQ(max(std::nanf(""), 1.0f), 1.0f);
  EXPECT_EQ(min(-1, 2), -1);
  EXPECT_EQ(max(1u, ~0u), ~0u);
}

TEST(SimtWords, BitsAreCountedAndTurned) {
  EXPECT_EQ(__float_as_int(1.0f), 0x3f800000);
  EXPECT_EQ(__uint_as_float(0x3f800000u), 1.0f);
  EXPECT_EQ(__longlong_as_double(__double_as_longlong(-2.5)), -2.5);
  EXPECT_EQ(__brev(0x00000003u), 0xc0000000u);
  EXPECT_EQ(__popc(0xf0f0u), 8);
  EXPECT_EQ(__clz(1), 31);
  EXPECT_EQ(__ffs(8), 4);
  EXPECT_EQ(__ffs(0), 0);
}

TEST(SimtWords, VectorsAreAlignedAsOnADevice) {
  EXPECT_EQ(alignof(float2), 8u);
  EXPECT_EQ(alignof(float4), 16u);
  EXPECT_EQ(alignof(double2), 16u);
  EXPECT_EQ(alignof(float3), 4u);
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
  const float2 both = __half22float2(__floats2half2_rn(0.25f, -8.0f));
  EXPECT_EQ(both.x, 0.25f);
  EXPECT_EQ(both.y, -8.0f);
}

// The half nearest to a number, by trying: of two that are as near, the even one.
uint16_t nearest_half(long double value) {
  uint32_t best = 0;
  long double best_distance = std::numeric_limits<long double>::infinity();
  uint32_t low = 0;
  uint32_t high = 0x7bff;
  const long double size = value < 0 ? -value : value;
  while (high - low > 1) {
    const uint32_t middle = (low + high) / 2;
    (simt::half_value(static_cast<uint16_t>(middle)) <= size ? low : high) = middle;
  }
  for (const uint32_t each : {low, high}) {
    const long double distance = std::abs(simt::half_value(static_cast<uint16_t>(each)) - size);
    if (distance < best_distance || (distance == best_distance && each % 2 == 0)) {
      best = each;
      best_distance = distance;
    }
  }
  if (size >= 65520) best = 0x7c00;
  return static_cast<uint16_t>(best | (std::signbit(value) ? 0x8000u : 0u));
}

TEST(HalfWords, AreComputedExactlyAndRoundedOnce) {
  static_assert(std::numeric_limits<long double>::digits >= 64, "a x b + c is exact");
  std::mt19937 random(8);
  // All exponents, and those that meet.
  const auto any = [&](uint32_t mask) {
    const auto bits = static_cast<uint16_t>(random() & mask);
    return (bits & 0x7c00u) == 0x7c00u ? uint16_t{0x3c01} : bits;
  };
  for (int round = 0; round < 20000; ++round) {
    const uint32_t mask = round % 2 == 0 ? 0xffffu : 0xc7ffu;
    const __half2 a = {any(mask), 0x3c00};
    const __half2 b = {any(mask), 0x4000};
    const __half2 c = {any(round % 4 < 2 ? 0xffffu : 0x83ffu), 0x3555};
    const long double x = simt::half_value(a.x);
    const long double y = simt::half_value(b.x);
    const long double z = simt::half_value(c.x);
    ASSERT_EQ(__hadd2_rn(a, b).x, nearest_half(x + y)) << a.x << " " << b.x;
    ASSERT_EQ(__hsub2_rn(a, b).x, nearest_half(x - y)) << a.x << " " << b.x;
    ASSERT_EQ(__hmul2_rn(a, b).x, nearest_half(x * y)) << a.x << " " << b.x;
    ASSERT_EQ(__hfma2(a, b, c).x, nearest_half(x * y + z)) << a.x << " " << b.x << " " << c.x;
    ASSERT_EQ(__hfma2(a, b, c).y, nearest_half(2.0L + simt::half_value(0x3555)));
  }
}

TEST(HalfWords, OverflowToInfinityAndKnowWhatIsNoNumber) {
  const __half2 large = {0x7bff, 0xfbff};
  EXPECT_EQ(word_of_halves(__hadd2_rn(large, large)), 0xfc007c00u);
  const __half2 none = __hsub2_rn(__hadd2_rn(large, large), __hadd2_rn(large, large));
  EXPECT_TRUE(std::isnan(__half22float2(none).x));
  EXPECT_EQ(word_of_halves(__hneg2(large)), 0x7bfffbffu);
}

TEST(HalfWords, MoveHalvesAsTheirNamesSay) {
  const __half2 a = halves_of_word(0x22221111u);
  const __half2 b = halves_of_word(0x44443333u);
  EXPECT_EQ(word_of_halves(__low2half2(a)), 0x11111111u);
  EXPECT_EQ(word_of_halves(__high2half2(a)), 0x22222222u);
  EXPECT_EQ(word_of_halves(__lows2half2(a, b)), 0x33331111u);
  EXPECT_EQ(word_of_halves(__highs2half2(a, b)), 0x44442222u);
}

}  // namespace
}  // namespace tests
