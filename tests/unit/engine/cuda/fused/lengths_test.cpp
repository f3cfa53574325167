// Whole searches by the fused path on the CPU, with every compiled length along either axis.
#include "tests/fakes/half_words.h"
#include "tests/unit/engine/cuda/on_cpu.h"
//
#include <string>

#include "tests/unit/engine/cuda/fused/fused_searches.h"

namespace tests {
namespace {

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CudaSearch);

template <typename Length>
class CudaFusedLength : public CudaFused<OnCpu> {
 protected:
  static constexpr int kLength = Length::value;

  // All that a thread has is kept, or what usually is.
  template <typename Storage>
  static void expect_maps(double bound, size_t units) {
    for (const int extent : {kLength - 30, kLength * 3 / 4}) {
      SCOPED_TRACE(std::to_string(extent) + " of " + std::to_string(kLength));
      expect_maps_of_the_cpu<OneTile<Storage, kShort, kLength>>(
          {.name = "rows", .height = 56, .width = extent, .n = 16}, bound, units);
      const SearchCase columns{.name = "columns", .height = extent, .width = 56, .n = 16};
      expect_maps_of_the_cpu<OneTile<Storage, kLength, kShort>>(columns, bound, units);
      if constexpr (cuda::radix_in_two(kLength) > 0) {
        expect_maps_of_the_cpu<OneTile<Storage, kLength, kShort, cuda::ColumnKernel::kInTwo>>(
            columns, bound, units);
      }
    }
  }

  template <cuda::ColumnKernel kKernel>
  static void expect_no_gain() {
    using Half = cuda::HalfArithmetic;
    expect_the_gain_of_one<OneTile<Half, kLength, kShort, kKernel>>(
        {.name = "columns", .height = kLength - 30, .width = 56, .n = 32, .paired = false});
  }
};

template <int kLength>
using OfLength = std::integral_constant<int, kLength>;
using CompiledOnes =
    testing::Types<OfLength<512>, OfLength<1024>, OfLength<1536>, OfLength<2304>, OfLength<4096>>;
TYPED_TEST_SUITE(CudaFusedLength, CompiledOnes);

TYPED_TEST(CudaFusedLength, GivesTheMapsOfTheCpu) {
  // Enough units for the steps of the sums of squares, 2^-16, to even out.
  this->template expect_maps<cuda::SingleStorage>(3e-6, 8);
}
TYPED_TEST(CudaFusedLength, GivesThemInHalfPrecision) {
  this->template expect_maps<cuda::HalfArithmetic>(5e-3, 2);
}

TYPED_TEST(CudaFusedLength, MakesNothingLargerInHalfPrecision) {
  this->template expect_no_gain<cuda::ColumnKernel::kInThree>();
  if constexpr (cuda::radix_in_two(TypeParam::value) > 0) {
    this->template expect_no_gain<cuda::ColumnKernel::kInTwo>();
  }
}

}  // namespace
}  // namespace tests
