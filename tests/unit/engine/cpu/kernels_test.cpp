// The vector loops against plain ones, on every instruction set that this processor has: the bits
// must be the same on all.

#include "engine/cpu/kernels.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "engine/cpu/instruction_set.h"
#include "engine/numerics/statistics.h"

namespace engine::cpu {
namespace {

using Complex = std::complex<float>;

std::vector<Complex> random_row(size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> gaussian;
  std::vector<Complex> row(count);
  for (Complex& value : row) value = {gaussian(random), gaussian(random)};
  return row;
}

struct Row {
  std::vector<float> best;
  std::vector<int32_t> index;
  std::vector<int64_t> sum, squares;

  explicit Row(size_t count)
      : best(count, -std::numeric_limits<float>::infinity()),
        index(count, std::numeric_limits<int32_t>::max()),
        sum(count),
        squares(count) {}
  StatisticsRow view() { return {best.data(), index.data(), sum.data(), squares.data()}; }
  bool operator==(const Row& other) const = default;
};

int64_t fixed(float value, int bits) {
  return static_cast<int64_t>(std::nearbyint(std::ldexp(static_cast<double>(value), bits)));
}

// v^2 rounded, and then the sum of that and u^2: the squares of floats are exact in double.
int64_t fixed_square(float u, float v) {
  const auto square = [](float x) { return std::ldexp(double{x} * double{x}, kSquareBits); };
  return static_cast<int64_t>(std::nearbyint(square(u) + std::nearbyint(square(v))));
}

void offer(Row& row, size_t i, float value, int32_t index) {
  if (value > row.best[i] || (value == row.best[i] && index < row.index[i])) {
    row.best[i] = value;
    row.index[i] = index;
  }
}

// What accumulate says it does, one pixel at a time.
void plain(const std::vector<Complex>& values, int32_t first, int32_t second, Row& row) {
  for (size_t i = 0; i < values.size(); ++i) {
    const float u = values[i].real();
    const float v = second >= 0 ? values[i].imag() : 0.0f;
    row.sum[i] += fixed(u + v, kSumBits);
    row.squares[i] += fixed_square(u, v);
    offer(row, i, u, first);
    if (second >= 0) offer(row, i, v, second);
  }
}

class OnEveryInstructionSet : public testing::Test {
 protected:
  template <typename Test>
  void run(const Test& test) {
    const int64_t all = hwy::SupportedTargets();
    int tried = 0;
    for (int64_t left = all; left != 0; left &= left - 1) {
      const int64_t target = left & -left;
      hwy::SetSupportedTargetsForTest(target);
      SCOPED_TRACE(hwy::TargetName(target));
      test();
      ++tried;
    }
    hwy::SetSupportedTargetsForTest(0);
    EXPECT_GT(tried, 0);
  }
};

TEST_F(OnEveryInstructionSet, APairOfCorrelationsIsAccumulatedAsThePlainLoopDoes) {
  run([] {
    for (size_t count = 1; count < 70; ++count) {
      Row ours(count), wanted(count);
      for (int32_t k = 0; k < 6; ++k) {
        const auto values = random_row(count, static_cast<unsigned>(count * 10 + 2 + k % 3));
        EXPECT_TRUE(accumulate(values.data(), count, 20 - 2 * k, 21 - 2 * k, ours.view()));
        plain(values, 20 - 2 * k, 21 - 2 * k, wanted);
      }
      EXPECT_EQ(ours, wanted) << count << " pixels";
    }
  });
}

TEST_F(OnEveryInstructionSet, ASingleCorrelationIgnoresTheImaginaryPart) {
  run([] {
    for (size_t count = 1; count < 40; ++count) {
      Row ours(count), wanted(count);
      const auto values = random_row(count, static_cast<unsigned>(count));
      EXPECT_TRUE(accumulate(values.data(), count, 7, -1, ours.view()));
      plain(values, 7, -1, wanted);
      EXPECT_EQ(ours, wanted) << count << " pixels";
    }
  });
}

TEST_F(OnEveryInstructionSet, WhatIsNotFiniteOrTooLargeIsSeenInEveryLane) {
  run([] {
    constexpr size_t kCount = 37;
    for (size_t at = 0; at < kCount; ++at) {
      for (const float bad : {std::numeric_limits<float>::quiet_NaN(),
                              std::numeric_limits<float>::infinity(), 1e6f}) {
        Row row(kCount);
        auto values = random_row(kCount, 1);
        values[at] = {0.5f, bad};
        EXPECT_FALSE(accumulate(values.data(), kCount, 0, 1, row.view())) << at;
      }
      Row row(kCount);
      row.squares[at] = static_cast<int64_t>(kSquareLimit) - 1;
      const std::vector<Complex> ones(kCount, {1.0f, 0.0f});
      EXPECT_FALSE(accumulate(ones.data(), kCount, 0, -1, row.view())) << at;
    }
  });
}

TEST_F(OnEveryInstructionSet, TheProductIsConjugatedOnItsFirstFactor) {
  run([] {
    for (size_t count = 1; count < 40; ++count) {
      const auto a = random_row(count, 1);
      const auto b = random_row(count, 2);
      std::vector<Complex> out(a);
      multiply_conjugate(out.data(), b.data(), out.data(), count);
      for (size_t i = 0; i < count; ++i) {
        EXPECT_EQ(out[i].real(), a[i].real() * b[i].real() + a[i].imag() * b[i].imag());
        EXPECT_EQ(out[i].imag(), a[i].real() * b[i].imag() - a[i].imag() * b[i].real());
      }
    }
  });
}

TEST(Transpose, PutsEveryElementWhereItBelongs) {
  for (const size_t rows : {1u, 7u, 8u, 16u}) {
    for (const size_t columns : {1u, 5u, 33u}) {
      std::vector<Complex> in(rows * 40), out(columns * 20);
      for (size_t i = 0; i < in.size(); ++i) in[i] = {static_cast<float>(i), 0};
      transpose(in.data(), 40, rows, columns, out.data(), 20);
      for (size_t r = 0; r < rows; ++r) {
        for (size_t c = 0; c < columns; ++c) EXPECT_EQ(out[c * 20 + r], in[r * 40 + c]);
      }
    }
  }
}

TEST(InstructionSet, HasTheNameThatPeopleKnow) {
  EXPECT_EQ(instruction_set_name("AVX3_ZEN4"), "AVX-512");
  EXPECT_EQ(instruction_set_name("AVX3"), "AVX-512");
  EXPECT_EQ(instruction_set_name("AVX2"), "AVX2");
  EXPECT_EQ(instruction_set_name("NEON"), "NEON");
  EXPECT_EQ(instruction_set_name("SVE_256"), "SVE");
}

}  // namespace
}  // namespace engine::cpu
