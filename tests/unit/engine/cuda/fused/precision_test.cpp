// Reduced precision on the CPU, and what the compiled lengths are.
#include "tests/fakes/half_words.h"
#include "tests/fakes/simt_device.h"
//
#include <gmock/gmock.h>

#include <type_traits>

#include "engine/cuda/fused/compiled_lengths.h"
#include "engine/cuda/fused/instantiate.h"
#include "tests/unit/engine/cuda/fused/precision_cases.h"

namespace tests {
namespace {

struct OnCpu {
  using Device = SimtDevice;
  static std::string missing() { return ""; }
  static std::unique_ptr<Device> make() { return std::make_unique<Device>(); }
};
INSTANTIATE_TYPED_TEST_SUITE_P(OnTheCpu, CudaPrecision, OnCpu);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CudaSearch);

template <typename Storage>
std::vector<int> lengths_in(uint64_t kibibytes) {
  return cuda::lengths_within(
      cuda::fused_kernels_of<Storage, cuda::FusedLengths>(engine::Precision::kFp32),
      kibibytes * 1024);
}

// The most that a block may have: 64 KiB on sm_75, 99 on sm_86 and sm_89, 163 on sm_80.
TEST(CudaFusedLengths, OfEveryDeviceWeCompileFor) {
  using ::testing::ElementsAre;
  EXPECT_THAT(lengths_in<cuda::SingleStorage>(64), ElementsAre(512, 1024, 1536));
  EXPECT_THAT(lengths_in<cuda::SingleStorage>(99), ElementsAre(512, 1024, 1536, 2304));
  EXPECT_THAT(lengths_in<cuda::SingleStorage>(163), ElementsAre(512, 1024, 1536, 2304, 4096));
  EXPECT_THAT(lengths_in<cuda::HalfArithmetic>(163), ElementsAre(512, 1024, 1536, 2304, 4096));
  EXPECT_FALSE(lengths_in<cuda::HalfArithmetic>(64).empty());
}

TEST(CudaFusedLengths, AreReadFromTheBuildsList) {
  static_assert(std::is_same_v<cuda::CompiledLengths, cuda::LengthList<64, 288, 1536>>);
  EXPECT_EQ(cuda::length_at("512", 0), 512);
  EXPECT_EQ(cuda::count_lengths("512:1024:1536:2304:4096"), 5u);
  EXPECT_EQ(cuda::length_at("512:1024:1536:2304:4096", 4), 4096);
}

}  // namespace
}  // namespace tests
