// The block transform of the fused path: its index arithmetic, its bank conflicts, and the
// transform itself against a plain one in double.
#include "tests/fakes/simt.h"
//
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <map>
#include <numbers>
#include <random>
#include <set>
#include <vector>

#include "engine/cuda/fused/fft_block.cuh"
#include "engine/cuda/fused/fft_roots.cuh"

namespace engine::cuda {
namespace {

using Wide = std::complex<double>;
using Lengths = ::testing::Types<FftOrder<64>, FftOrder<96>, FftOrder<288>, FftOrder<256>,
                                 FftOrder<512>, FftOrder<1024>, FftOrder<1536>, FftOrder<2048>,
                                 FftOrder<2304>, FftOrder<3072>, FftOrder<4096>>;

template <typename Order>
class CudaFft : public ::testing::Test {};
TYPED_TEST_SUITE(CudaFft, Lengths);

TYPED_TEST(CudaFft, EveryStageOwnsEveryPositionOnce) {
  using Order = TypeParam;
  for (int stage = 0; stage < 3; ++stage) {
    std::set<int> positions;
    std::set<int> addresses;
    for (int b = 0; b < Order::butterflies(stage); ++b) {
      for (int i = 0; i < Order::radix(stage); ++i) {
        const int position = Order::position(stage, b, i);
        positions.insert(position);
        addresses.insert(Order::address(position));
        EXPECT_EQ(Order::address(position),
                  Order::address(Order::position(stage, b, 0)) + i * Order::address_stride(stage));
      }
      if (b >= Order::kThreads) {
        EXPECT_EQ(Order::address(Order::position(stage, b, 0)),
                  Order::address(Order::position(stage, b - Order::kThreads, 0)) +
                      Order::address_round(stage));
      }
    }
    EXPECT_EQ(positions.size(), static_cast<size_t>(Order::kLength));
    EXPECT_EQ(*positions.begin(), 0);
    EXPECT_EQ(*positions.rbegin(), Order::kLength - 1);
    EXPECT_EQ(addresses.size(), static_cast<size_t>(Order::kLength));
    EXPECT_LT(*addresses.rbegin(), Order::kSharedPoints);
  }
}

TYPED_TEST(CudaFft, StoredOrderHoldsEveryFrequencyOnce) {
  using Order = TypeParam;
  std::set<int> frequencies;
  for (int b = 0; b < Order::butterflies(2); ++b) {
    for (int i = 0; i < Order::radix(2); ++i) {
      const int index = Order::stored(b, i);
      EXPECT_EQ(Order::stored_frequency(index), Order::frequency(Order::position(2, b, i)));
      frequencies.insert(Order::stored_frequency(index));
    }
  }
  EXPECT_EQ(frequencies.size(), static_cast<size_t>(Order::kLength));
  EXPECT_EQ(*frequencies.rbegin(), Order::kLength - 1);
}

// Half a warp reads 16 words of 8 bytes at once when they lie on different pairs of banks, modulo
// 16. The most that fall together, over all accesses of a stage:
template <typename Order>
int worst_conflict(int stage, int lines) {
  int worst = 1;
  const int per_half_warp = 16 / lines;
  for (int first = 0; first < Order::butterflies(stage); first += per_half_warp) {
    std::map<int, int> on_bank;
    for (int b = first; b < std::min(first + per_half_warp, Order::butterflies(stage)); ++b) {
      for (int line = 0; line < lines; ++line) {
        const int word = Order::address(Order::position(stage, b, 0)) * lines + line;
        worst = std::max(worst, ++on_bank[word % 16]);
      }
    }
  }
  return worst;
}

TEST(CudaFft, TheLengthsThatMatterHaveNoBankConflicts) {
  for (const int lines : {1, 2, 4}) {
    for (int stage = 0; stage < 3; ++stage) {
      EXPECT_EQ(worst_conflict<FftOrder<2304>>(stage, lines), 1) << lines << " " << stage;
      EXPECT_EQ(worst_conflict<FftOrder<4096>>(stage, lines), 1) << lines << " " << stage;
    }
  }
}

template <int kPoints, bool kInverse, int kInputs>
double error_of_points() {
  std::mt19937 random(kPoints);
  std::normal_distribution<float> normal;
  std::array<float2, kPoints> x;
  std::array<Wide, kPoints> in{};
  for (int i = 0; i < kPoints; ++i) {
    const auto at = static_cast<size_t>(i);
    // What counts as 0 is not read.
    x[at] = i < kInputs ? float2{normal(random), normal(random)} : float2{NAN, NAN};
    if (i < kInputs) in[at] = Wide(x[at].x, x[at].y);
  }
  transform_points<kPoints, kInverse, kInputs>(x.data());
  double error = 0;
  for (int k = 0; k < kPoints; ++k) {
    Wide sum = 0;
    for (int i = 0; i < kPoints; ++i) {
      sum += in[static_cast<size_t>(i)] *
             std::polar(1.0, (kInverse ? 2 : -2) * std::numbers::pi * i * k / kPoints);
    }
    const float2 got = x[static_cast<size_t>(k)];
    error = std::max(error, std::abs(sum - Wide(got.x, got.y)) / std::sqrt(kPoints));
  }
  return error;
}

TEST(CudaFft, AFewPointsAreTransformedInRegisters) {
  const double bound = 4e-7;
  const auto both_ways = [&]<int kPoints>(std::integral_constant<int, kPoints>) {
    EXPECT_LT((error_of_points<kPoints, false, kPoints>()), bound) << kPoints;
    EXPECT_LT((error_of_points<kPoints, true, kPoints>()), bound) << kPoints;
  };
  both_ways(std::integral_constant<int, 2>{});
  both_ways(std::integral_constant<int, 3>{});
  both_ways(std::integral_constant<int, 4>{});
  both_ways(std::integral_constant<int, 6>{});
  both_ways(std::integral_constant<int, 8>{});
  both_ways(std::integral_constant<int, 9>{});
  both_ways(std::integral_constant<int, 12>{});
  both_ways(std::integral_constant<int, 16>{});
  both_ways(std::integral_constant<int, 48>{});
}

TEST(CudaFft, PrunedInputsAreNotRead) {
  const double bound = 4e-7;
  EXPECT_LT((error_of_points<4, false, 1>()), bound);
  EXPECT_LT((error_of_points<4, false, 2>()), bound);
  EXPECT_LT((error_of_points<4, false, 3>()), bound);
  EXPECT_LT((error_of_points<8, false, 2>()), bound);
  EXPECT_LT((error_of_points<8, false, 4>()), bound);
  EXPECT_LT((error_of_points<16, false, 4>()), bound);
  EXPECT_LT((error_of_points<16, false, 8>()), bound);
  EXPECT_LT((error_of_points<48, false, 12>()), bound);
  EXPECT_LT((error_of_points<48, false, 24>()), bound);
}

TEST(CudaFft, RootsAreMadeInDouble) {
  for (const int turns : {3, 6, 8, 9, 12, 16, 360}) {
    for (int turn = 0; turn < turns; ++turn) {
      const double angle = 2 * std::numbers::pi * turn / turns;
      EXPECT_NEAR(roots::cosine(turn, turns), std::cos(angle), 1e-15) << turn << "/" << turns;
      EXPECT_NEAR(roots::sine(turn, turns), std::sin(angle), 1e-15) << turn << "/" << turns;
    }
  }
}

// `lines` interleaved, the first `given` points of each; to stored order.
template <int kLength, int kLines, int kInputs, bool kWithBarrier = true>
__global__ void forward_kernel(const float2* in, int given, float2* out, const float2* roots) {
  using Fft = BlockFft<kLength, kLines>;
  Fft fft(shared_memory<float2>(), roots);
  float2 x[Fft::kFirst];
  unrolled<kInputs>([&](auto i) {
    const int point = fft.thread() + i * Fft::Order::stride(0);
    x[i] = point < given ? in[point * kLines + fft.line()] : float2{0.0f, 0.0f};
  });
  fft.template forward_first<kInputs>(x);
  if (kWithBarrier) __syncthreads();
  fft.forward_middle();
  __syncthreads();
  fft.for_each_last([&](auto round) {
    float2 y[Fft::kLast];
    fft.take_last(round, y);
    unrolled<Fft::kLast>([&](auto i) {
      out[(fft.stored(round) + i * Fft::kStoredStep) * kLines + fft.line()] = y[i];
    });
  });
}

template <int kLength, int kLines>
__global__ void inverse_kernel(const float2* in, float2* out, const float2* roots) {
  using Fft = BlockFft<kLength, kLines>;
  Fft fft(shared_memory<float2>(), roots);
  fft.for_each_last([&](auto round) {
    float2 y[Fft::kLast];
    unrolled<Fft::kLast>([&](auto i) {
      y[i] = in[(fft.stored(round) + i * Fft::kStoredStep) * kLines + fft.line()];
    });
    fft.give_last(round, y);
  });
  __syncthreads();
  fft.inverse_middle();
  __syncthreads();
  float2 x[Fft::kFirst];
  fft.inverse_first(x);
  unrolled<Fft::kFirst>([&](auto i) {
    out[(fft.thread() + i * Fft::Order::stride(0)) * kLines + fft.line()] = x[i];
  });
}

std::vector<float2> noise(size_t count) {
  std::mt19937 random(11);
  std::normal_distribution<float> normal;
  std::vector<float2> out(count);
  for (float2& value : out) value = {normal(random), normal(random)};
  return out;
}

// Relative to the deviation of the transform of noise.
template <int kLength>
double error_at(const std::vector<float2>& in, int lines, int line, int given, int frequency,
                float2 got) {
  Wide sum = 0;
  for (int i = 0; i < given; ++i) {
    const float2 value = in[static_cast<size_t>(i * lines + line)];
    // The product of the integers first: an angle of thousands of turns would lose digits.
    const int turn = static_cast<int>(static_cast<int64_t>(i) * frequency % kLength);
    sum += Wide(value.x, value.y) * std::polar(1.0, -2 * std::numbers::pi * turn / kLength);
  }
  return std::abs(sum - Wide(got.x, got.y)) / std::sqrt(2.0 * given);
}

template <int kLength, int kLines, int kInputs>
void expect_forward_is_right(int given, uint64_t seed) {
  using Fft = BlockFft<kLength, kLines>;
  const std::vector<float2> in = noise(static_cast<size_t>(given * kLines));
  const std::vector<float2> roots = make_roots<kLength>();
  std::vector<float2> out(static_cast<size_t>(kLength * kLines), float2{NAN, NAN});
  tests::simt::launch({.kernel = "forward", .seed = seed}, forward_kernel<kLength, kLines, kInputs>,
                      1, Fft::kThreads, Fft::kSharedPoints * sizeof(float2), in.data(), given,
                      out.data(), roots.data());
  double worst = 0;
  for (int index = 0; index<kLength; index += kLength> 300 ? 7 : 1) {
    for (int line = 0; line < kLines; ++line) {
      worst = std::max(
          worst, error_at<kLength>(in, kLines, line, given, Fft::Order::stored_frequency(index),
                                   out[static_cast<size_t>(index * kLines + line)]));
    }
  }
  EXPECT_LT(worst, 1.5e-6) << kLength << " " << given;
}

template <int kLength, int kLines>
void expect_inverse_returns(uint64_t seed) {
  using Fft = BlockFft<kLength, kLines>;
  const std::vector<float2> in = noise(static_cast<size_t>(kLength * kLines));
  const std::vector<float2> roots = make_roots<kLength>();
  std::vector<float2> middle(in.size());
  std::vector<float2> out(in.size());
  tests::simt::launch({.kernel = "forward", .seed = seed},
                      forward_kernel<kLength, kLines, Fft::kFirst>, 1, Fft::kThreads,
                      Fft::kSharedPoints * sizeof(float2), in.data(), kLength, middle.data(),
                      roots.data());
  tests::simt::launch({.kernel = "inverse", .seed = seed + 1}, inverse_kernel<kLength, kLines>, 1,
                      Fft::kThreads, Fft::kSharedPoints * sizeof(float2), middle.data(), out.data(),
                      roots.data());
  double worst = 0;
  for (size_t i = 0; i < in.size(); ++i) {
    worst = std::max(worst,
                     std::abs(Wide(out[i].x, out[i].y) / double{kLength} - Wide(in[i].x, in[i].y)));
  }
  EXPECT_LT(worst, 3e-6) << kLength;
}

TYPED_TEST(CudaFft, IsTheTransformInPermutedOrder) {
  constexpr int kLength = TypeParam::kLength;
  constexpr int kFirst = TypeParam::radix(0);
  expect_forward_is_right<kLength, 2, kFirst>(kLength, 1);
  expect_forward_is_right<kLength, 2, kFirst>(kLength * 3 / 4 + 1, 2);
}

TYPED_TEST(CudaFft, PrunedIsTheTransformOfWhatIsPaddedWithZeros) {
  constexpr int kLength = TypeParam::kLength;
  constexpr int kFirst = TypeParam::radix(0);
  expect_forward_is_right<kLength, 2, kFirst / 2>(kLength / 2, 3);
  expect_forward_is_right<kLength, 2, kFirst / 4>(kLength / 4 - 1, 4);
  expect_forward_is_right<kLength, 2, kFirst / 4>(1, 5);
}

TYPED_TEST(CudaFft, InverseBringsTheLineBack) { expect_inverse_returns<TypeParam::kLength, 2>(1); }

TEST(CudaFft, DoesNotDependOnTheOrderOfTheThreads) {
  for (const uint64_t seed : {1, 2, 3, 4, 5, 6, 7, 8}) {
    expect_forward_is_right<64, 1, 4>(64, seed);
    expect_forward_is_right<64, 4, 4>(50, seed);
    expect_forward_is_right<288, 4, 2>(100, seed);
    expect_inverse_returns<64, 4>(seed);
    expect_inverse_returns<96, 4>(seed);
    expect_inverse_returns<288, 1>(seed);
  }
}

TEST(CudaFft, AMissingBarrierIsNoticed) {
  using Fft = BlockFft<64, 2>;
  const std::vector<float2> in = noise(128);
  const std::vector<float2> roots = make_roots<64>();
  const auto run = [&](auto kernel, uint64_t seed) {
    std::vector<float2> out(128);
    tests::simt::launch({.kernel = "forward", .seed = seed}, kernel, 1, Fft::kThreads,
                        Fft::kSharedPoints * sizeof(float2), in.data(), 64, out.data(),
                        roots.data());
    return error_at<64>(in, 2, 1, 64, Fft::Order::stored_frequency(9), out[19]);
  };
  for (const uint64_t seed : {1, 2, 3, 4}) {
    EXPECT_LT(run(forward_kernel<64, 2, 4, true>, seed), 1.5e-6);
    // The garbage of shared memory may be no number.
    EXPECT_FALSE(run(forward_kernel<64, 2, 4, false>, seed) < 1e-3);
  }
}

}  // namespace
}  // namespace engine::cuda
